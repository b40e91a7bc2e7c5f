#include "dre/report/compare_page.h"

#include <algorithm>
#include <cmath>

#include "dre/base/error.h"
#include "dre/base/version.h"
#include "dre/data/place.h"
#include "dre/report/chart.h"
#include "dre/report/page_parts.h"

namespace dre::report {
namespace {

Section summary_section(const CompareResult& result) {
  Section section{"Summary", {Prose{result.verdict}}};
  for (const auto& [code, message] : result.warnings)
    section.blocks.emplace_back(Notice{Notice::Kind::warning, text(message, " (", code, ")")});
  const nlohmann::json& data = result.data;
  section.blocks.emplace_back(
      Facts{{{"numerator", side_text(data, "numerator")},
             {"denominator", side_text(data, "denominator")},
             {"direction", "r = numerator / denominator"},
             {"columns", text(result.columns.size(), " compared")},
             {"p-value", text(number(result.test.p_value), ", ", p_value_source(result))}}});
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
  table.footnote = text(
      number(100 * d.level),
      " % confidence intervals; they allow for refitting the model. KL and Jensen-Shannon are "
      "corrected for what a model estimated from so many rows misses in others, lower ends are "
      "not. No figure is below what rows beyond the range of the other side prove by their number, "
      "Jensen-Shannon and total variation neither below what rare levels of one side alone prove.");
  const WeightCheck& w = result.weights;
  return {"How far apart",
          {table, Facts{{{"AUC", number(result.separation.before)},
                         {"AUC after reweighting", number(result.separation.after.value,
                                                          result.separation.after.standard_error)},
                         {"effective rows", text(count_text(w.effective_rows), " of ", w.rows)},
                         {"Pareto k of the weights", tail_text(w)},
                         {"mean of r", mean_text(w)},
                         {"numerator rows without counterpart",
                          text(number(100 * result.support.numerator_outside), " %")},
                         {"denominator rows without counterpart",
                          text(number(100 * result.support.denominator_outside), " %")}}}}};
}

Chart histogram_chart(const RatioHistogram& found) {
  const std::vector<double> middle = bin_centres(found.edges);
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
  const std::vector<double> middle = bin_centres(found.edges);
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

std::string path_text(const CompareResult& result) {
  if (result.paths.empty()) return "this method has one path of integration, or needs none";
  return text("log r along ", listed(result.paths), " differs by ",
              number(result.path_disagreement), " nats, root mean square over some rows");
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
      Facts{{{"paths", path_text(result)},
             {"recalibration", text("intercept ", number(result.divergences.calibration.intercept),
                                    ", slope ", number(result.divergences.calibration.slope))}}});
  return section;
}

}  // namespace

Page compare_page(const CompareResult& result) {
  return {
      "Two tables compared",
      text(side_name(result.data, "numerator"), " against ", side_name(result.data, "denominator")),
      {summary_section(result),
       numbers_section(result),
       {"Ratios and weights",
        {histogram_chart(result.histogram), calibration_chart(result.histogram),
         tail_chart(result.largest_weights, result.weights)}},
       columns_section(result.columns),
       training_section(result)},
      text("Made by dre ", version(), ".")};
}

}  // namespace dre::report
