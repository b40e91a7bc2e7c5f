/// dre info: what a model file holds.
#include <map>

#include "cli/command.h"
#include "cli/flags.h"
#include "cli/output.h"
#include "cli/summary.h"
#include "dre/base/names.h"
#include "dre/data/safetensors.h"
#include "dre/ratio/model_file.h"

namespace dre::cli {
namespace {

/// "zscore of x, y; rank of income"
std::string transforms(const Estimator& estimator) {
  const ColumnTransforms& columns = estimator.coordinates().columns();
  std::map<std::string, std::vector<std::string>> by_kind;
  for (size_t i = 0; i < columns.names().size(); ++i)
    by_kind[columns.kinds()[i]].push_back(columns.names()[i]);
  std::vector<std::string> parts;
  for (const auto& [kind, names] : by_kind) parts.push_back(text(kind, " of ", join(names)));
  return join(parts, "; ");
}

std::string text_info(const Estimator& estimator, const nlohmann::json& json) {
  int64_t weights = 0;
  for (const auto& member : estimator.members())
    weights += member.score->network().parameters().count();
  const nlohmann::json& record = estimator.record;
  std::string out = summary(record);
  out += summary_line("transforms", transforms(estimator));
  out += summary_line("weights", text(weights, " in ", estimator.members().size(),
                                      estimator.members().size() == 1 ? " network" : " networks"));
  if (record.contains("seed"))
    out += summary_line("seed", text(record["seed"], ", fitted on ", record.value("device", "?"),
                                     " with ", record.value("threads", 0),
                                     record.value("threads", 0) == 1 ? " thread" : " threads"));
  return out + summary_line("written by", text("dre ", json.value("dre_version", "?"),
                                               ", LibTorch ", json.value("torch_version", "?")));
}

}  // namespace

int run_info(int argc, char** argv) {
  std::string path;
  RunFlags run_flags;
  CLI::App app("Tells what a model file holds.", "dre info");
  app.add_option("model", path, "model file that dre fit wrote")->type_name("FILE");
  run_flags.add_format(app);
  if (parse(app, argc, argv)) return exit_fine;
  check(!path.empty(), "no model file; give one: dre info model.safetensors");
  const Estimator estimator = load_model(path);  // refuses damaged and foreign files
  const auto json = nlohmann::json::parse(load_safetensors(path).metadata.at("dre"));
  const bool as_json = run_flags.format == "json";
  print_result(as_json ? json.dump(2) + "\n" : text_info(estimator, json));
  return exit_fine;
}

}  // namespace dre::cli
