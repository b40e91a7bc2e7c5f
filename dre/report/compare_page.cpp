#include "dre/report/compare_page.h"

#include <algorithm>
#include <cmath>

#include "dre/base/error.h"
#include "dre/base/version.h"
#include "dre/report/chart.h"

namespace dre::report {
namespace {

/// Columns that get a chart of their own: more would make a long page that no one reads.
constexpr size_t most_marginals = 16;

std::string side(const nlohmann::json& data, const char* name) {
  const nlohmann::json& side = data.at(name);
  return text(side.value("file", "?"), ", ", side.value("rows", int64_t{0}), " rows");
}

std::vector<double> centres(const std::vector<double>& edges) {
  std::vector<double> out;
  for (size_t i = 0; i + 1 < edges.size(); ++i) out.push_back((edges[i] + edges[i + 1]) / 2);
  return out;
}

Section summary_section(const CompareResult& result) {
  Section section{"Summary", {Prose{result.verdict}}};
  for (const auto& [code, message] : result.warnings)
    section.blocks.emplace_back(Notice{Notice::Kind::warning, text(message, " (", code, ")")});
  const nlohmann::json& data = result.data;
  section.blocks.emplace_back(
      Facts{{{"numerator", side(data, "numerator")},
             {"denominator", side(data, "denominator")},
             {"direction", "r = numerator / denominator"},
             {"columns", text(result.columns.size(), " compared")},
             {"p-value", text(number(result.test.p_value), ", from ", result.test.rows,
                              " rows that the model did not see")}}});
  return section;
}

Section numbers_section(const CompareResult& result) {
  const Divergences& d = result.divergences;
  Table table{"Divergences", {"divergence", "value", "from", "to"}, {}};
  const auto add = [&](const char* name, const Divergence& one) {
    table.rows.push_back({name, one.value, one.low, one.high});
  };
  add("KL(numerator, denominator), nats", d.kl_numerator_denominator);
  add("KL(denominator, numerator), nats", d.kl_denominator_numerator);
  add("Jensen-Shannon, nats", d.jensen_shannon);
  add("total variation", d.total_variation);
  add("chi-square", d.chi_square);
  table.footnote =
      text(number(100 * d.level), " % confidence intervals; they allow for refitting the model.");
  const WeightCheck& w = result.weights;
  return {"How far apart",
          {table, Facts{{{"AUC", number(result.separation.before)},
                         {"AUC after reweighting", number(result.separation.after)},
                         {"effective rows", text(number(w.effective_rows), " of ", w.rows)},
                         {"Pareto k of the weights",
                          text(number(w.pareto_k), ", good below ", number(w.pareto_threshold))},
                         {"mean of r", number(w.mean.value, w.mean.standard_error)},
                         {"numerator rows without counterpart",
                          text(number(100 * result.support.numerator_outside), " %")},
                         {"denominator rows without counterpart",
                          text(number(100 * result.support.denominator_outside), " %")}}}}};
}

Chart histogram_chart(const RatioHistogram& found) {
  const std::vector<double> middle = centres(found.edges);
  Json data =
      with_field(records({{"ratio", middle}, {"share", found.numerator}}), "side", "numerator");
  append_records(data, with_field(records({{"ratio", middle}, {"share", found.denominator}}),
                                  "side", "denominator"));
  return {"Log-ratios on both sides",
          "Share of the rows of each side by log r; equal sides lie on one another around 0.",
          chart_spec(data, {layer({{"type", "area"}, {"interpolate", "step"}, {"opacity", 0.5}},
                                  {{"x", quantity("ratio", "log r")},
                                   {"y",
                                    {{"field", "share"},
                                     {"type", "quantitative"},
                                     {"stack", nullptr},
                                     {"title", "share of the rows"}}},
                                   {"color", category("side")}})})};
}

/// Rows whose log r is said to be x should be exp(x) times as frequent on the numerator.
Chart calibration_chart(const RatioHistogram& found) {
  std::vector<double> said, seen;
  const std::vector<double> middle = centres(found.edges);
  for (size_t i = 0; i < middle.size(); ++i) {
    if (std::min(found.numerator[i], found.denominator[i]) < 1e-3) continue;
    said.push_back(middle[i]);
    seen.push_back(std::log(found.numerator[i] / found.denominator[i]));
  }
  return {"Calibration",
          "For rows whose estimated log r lies in a bin: the log-ratio of how many rows of each "
          "side are there. On the line the estimate is right.",
          chart_spec(records({{"said", said}, {"seen", seen}}),
                     {layer({{"type", "line"}, {"strokeDash", {4, 4}}},
                            {{"x", quantity("said", "estimated log r")},
                             {"y", quantity("said", "log-ratio of the rows")}}),
                      layer({{"type", "point"}, {"filled", true}},
                            {{"x", quantity("said", "estimated log r")},
                             {"y", quantity("seen", "log-ratio of the rows")}})})};
}

Chart tail_chart(const CompareResult& result) {
  std::vector<double> rank;
  for (size_t i = 0; i < result.largest_weights.size(); ++i)
    rank.push_back(static_cast<double>(i + 1));
  return {
      "The largest weights",
      text("Weights r of the denominator's rows, mean 1, by rank. Pareto k ",
           number(result.weights.pareto_k), ": above ", number(result.weights.pareto_threshold),
           " a few rows decide."),
      chart_spec(
          records({{"rank", rank}, {"weight", result.largest_weights}}),
          {layer({{"type", "line"}, {"point", true}},
                 {{"x", log_quantity("rank", "rank")}, {"y", log_quantity("weight", "weight")}})})};
}

Chart effects_chart(const std::vector<ColumnEffect>& columns) {
  Json data = Json::array();
  for (size_t i = 0; i < std::min(columns.size(), 2 * most_marginals); ++i) {
    const auto add = [&](const char* what, double value) {
      data.push_back({{"column", columns[i].name}, {"effect", what}, {"value", value}});
    };
    add("on its own", columns[i].distance);
    add("after reweighting", columns[i].distance_reweighted);
  }
  Json spec = chart_spec(
      data,
      {layer("bar", {{"y", category("column")},
                     {"x", quantity("value", "distance of the distributions", true)},
                     {"color", category("effect")},
                     {"yOffset", {{"field", "effect"}, {"type", "nominal"}, {"sort", nullptr}}}})});
  spec["height"] = {{"step", 12}};
  return {"Columns",
          "Kolmogorov-Smirnov distance of numbers, total variation of categories, before and after "
          "the denominator is reweighted; ordered by what the joint model uses.",
          spec};
}

Table effects_table(const std::vector<ColumnEffect>& columns) {
  Table table{
      "Every column",
      {"column", "kind", "joint effect", "distance", "after reweighting", "shift", "shift after"},
      {}};
  const auto cell = [](double value) { return std::isnan(value) ? Cell() : Cell(value); };
  for (const auto& one : columns)
    table.rows.push_back({one.name, one.kind, one.joint, one.distance, one.distance_reweighted,
                          cell(one.shift), cell(one.shift_reweighted)});
  table.footnote =
      "Joint effect: nats of Jensen-Shannon divergence that the model loses when the column is "
      "shuffled. Shift: difference of means in standard deviations.";
  return table;
}

Chart marginal_chart(const ColumnEffect& effect) {
  const Marginal& m = effect.marginal;
  const bool number = !m.edges.empty();
  Json data = Json::array();
  const std::vector<double> middle = centres(m.edges);
  const auto add = [&](const char* name, const std::vector<double>& shares) {
    for (size_t i = 0; i < shares.size(); ++i) {
      Json row = {{"side", name}, {"share", shares[i]}};
      if (number)
        row["value"] = middle[i];
      else
        row["value"] = m.levels[i];
      data.push_back(std::move(row));
    }
  };
  add("numerator", m.numerator);
  add("denominator", m.denominator);
  add("reweighted", m.reweighted);
  const Json x = number ? quantity("value", effect.name) : category("value", effect.name);
  const Json mark = number ? Json{{"type", "line"}, {"interpolate", "step"}}
                           : Json{{"type", "point"}, {"filled", true}, {"size", 60}};
  return {effect.name, "Share of the rows: both sides, and the denominator after reweighting.",
          chart_spec(data,
                     {layer(mark, {{"x", x},
                                   {"y", quantity("share", "share of the rows", true)},
                                   {"color", category("side")}})},
                     460, 180)};
}

Section columns_section(const CompareResult& result) {
  Section section{"Columns", {effects_chart(result.columns), effects_table(result.columns)}};
  for (size_t i = 0; i < std::min(result.columns.size(), most_marginals); ++i)
    section.blocks.emplace_back(marginal_chart(result.columns[i]));
  if (result.columns.size() > most_marginals)
    section.blocks.emplace_back(
        Notice{Notice::Kind::note, text("Charts of the first ", most_marginals,
                                        " columns; the table has "
                                        "all ",
                                        result.columns.size(), ".")});
  return section;
}

Section training_section(const CompareResult& result) {
  Section section{"Training", {}};
  std::vector<double> step, held_out;
  for (const auto& point : result.curve) {
    step.push_back(static_cast<double>(point.step));
    held_out.push_back(point.held_out);
  }
  if (!step.empty())
    section.blocks.emplace_back(Chart{
        "Held-out loss of the first fold", "The best averaged weights by this curve are kept.",
        chart_spec(records({{"step", step}, {"loss", held_out}}),
                   {layer("line", {{"x", quantity("step", "step")},
                                   {"y", quantity("loss", "held-out loss")}})},
                   560, 200)});
  section.blocks.emplace_back(
      Facts{{{"paths", "classifiers give the ratio directly; there are no paths to disagree"},
             {"recalibration", text("intercept ", number(result.divergences.calibration.intercept),
                                    ", slope ", number(result.divergences.calibration.slope))}}});
  return section;
}

}  // namespace

Page compare_page(const CompareResult& result) {
  return {"Two tables compared",
          text(result.data.at("numerator").value("file", "?"), " against ",
               result.data.at("denominator").value("file", "?")),
          {summary_section(result),
           numbers_section(result),
           {"Ratios and weights",
            {histogram_chart(result.histogram), calibration_chart(result.histogram),
             tail_chart(result)}},
           columns_section(result),
           training_section(result)},
          text("Made by dre ", version(), ".")};
}

}  // namespace dre::report
