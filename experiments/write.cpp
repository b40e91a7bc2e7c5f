#include "experiments/write.h"

#include "dre/base/error.h"
#include "dre/base/version.h"

namespace dre::experiments {
namespace {

template <class Tables>
std::string joined(const Tables& tables, std::string (*form)(const report::Table&)) {
  std::string out;
  for (const auto& table : tables) out += text(out.empty() ? "" : "\n", form(table));
  return out;
}

}  // namespace

std::string to_text(const Written& result) {
  std::string out =
      text(result.description.title, "\n\n", joined(result.outcome.tables, report::to_text));
  for (const auto& note : result.outcome.notes) out += text("\n", note, "\n");
  for (const auto& failure : result.failures) out += text("\nfailed: ", failure, "\n");
  out += "\n";
  for (const auto& [name, value] : result.provenance) out += text(name, ": ", value, "\n");
  return out;
}

std::string to_markdown(const Written& result) {
  std::string out = text("# ", result.description.title, "\n\n", result.description.claim, "\n\n",
                         joined(result.outcome.tables, report::to_markdown));
  for (const auto& note : result.outcome.notes) out += text("\n", note, "\n");
  for (const auto& failure : result.failures) out += text("\nFailed: ", failure, "\n");
  out += "\n";
  for (const auto& [name, value] : result.provenance)
    out += text("- ", name, ": ", name == "command" ? text("`", value, "`") : value, "\n");
  return out;
}

Json to_json(const Written& result) {
  Json tables = Json::array();
  for (const auto& table : result.outcome.tables) tables.push_back(report::to_json(table));
  Json out = {{"experiment", result.name},         {"title", result.description.title},
              {"claim", result.description.claim}, {"tables", tables},
              {"notes", result.outcome.notes},     {"failures", result.failures}};
  for (const auto& [name, value] : result.provenance) out["provenance"][name] = value;
  return out;
}

report::Page to_page(const Written& result) {
  report::Section paper{"What the paper says", {report::Prose{result.description.claim}}};
  report::Section found{"Results", {}};
  for (const auto& failure : result.failures)
    found.blocks.emplace_back(report::Notice{report::Notice::Kind::failure, failure});
  for (const auto& table : result.outcome.tables) found.blocks.emplace_back(table);
  for (const auto& note : result.outcome.notes) found.blocks.emplace_back(report::Prose{note});
  report::Section figures{"Figures", {}};
  for (const auto& chart : result.outcome.charts) figures.blocks.emplace_back(chart);
  report::Section samples{"Samples", {}};
  for (const auto& picture : result.outcome.pictures) samples.blocks.emplace_back(picture);
  report::Section origin{"How it was made", {report::Facts{result.provenance}}};
  report::Page page{result.description.title,
                    text("Experiment `", result.name, "`"),
                    {paper, found},
                    text("Made by dre ", version(), ".")};
  if (!figures.blocks.empty()) page.sections.push_back(std::move(figures));
  if (!samples.blocks.empty()) page.sections.push_back(std::move(samples));
  page.sections.push_back(std::move(origin));
  return page;
}

}  // namespace dre::experiments
