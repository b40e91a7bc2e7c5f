#include "dre/report/page_parts.h"

#include <algorithm>
#include <cmath>

#include "dre/base/error.h"

namespace dre::report {
namespace {

/// Columns that get a chart of their own: more would make a long page that no one reads.
constexpr size_t most_marginals = 16;
constexpr double milliseconds_a_day = 86'400'000;

/// "city = rome" as "rome" where the chart is about the city.
std::string level_label(const std::string& level, const std::string& column) {
  const std::string start = column + " = ";
  if (level.starts_with(start)) return level.substr(start.size());
  return level == column + " is missing" ? "(missing)" : level;
}

std::string percent_text(double share) { return text(std::round(1000 * share) / 10, " %"); }

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
  const bool number = !m.edges.empty(), date = effect.kind == "date";
  Json data = Json::array();
  const std::vector<double> middle = bin_centres(m.edges);
  const auto add = [&](const char* name, const std::vector<double>& shares) {
    for (size_t i = 0; i < shares.size(); ++i) {
      Json row = {{"side", name}, {"share", shares[i]}};
      if (number)
        row["value"] = date ? middle[i] * milliseconds_a_day : middle[i];
      else
        row["value"] = level_label(m.levels[i], effect.name);
      data.push_back(std::move(row));
    }
  };
  add("numerator", m.numerator);
  add("denominator", m.denominator);
  add("reweighted", m.reweighted);
  Json x = number ? quantity("value", effect.name) : category("value", effect.name);
  if (date) x["type"] = "temporal";
  if (date) x["scale"] = {{"type", "utc"}};
  std::string caption = "Share of the rows: both sides, and the denominator after reweighting.";
  if (effect.missing_numerator + effect.missing_denominator > 0)
    caption += text(" Missing: ", percent_text(effect.missing_numerator), " of the numerator, ",
                    percent_text(effect.missing_denominator), " of the denominator.");
  const Json mark = number ? Json{{"type", "line"}, {"interpolate", "step"}}
                           : Json{{"type", "point"}, {"filled", true}, {"size", 60}};
  return {effect.name, caption,
          chart_spec(data,
                     {layer(mark, {{"x", x},
                                   {"y", quantity("share", "share of the rows", true)},
                                   {"color", category("side")}})},
                     460, 180)};
}

}  // namespace

std::string side_name(const nlohmann::json& data, const std::string& side) {
  const std::string file = data.at(side).value("file", "?");
  if (!data.contains("domain_column")) return file;
  return text(file, " (", data.value("domain_column", "?"), " = ", data.value(side + "_value", "?"),
              ")");
}

std::string side_text(const nlohmann::json& data, const std::string& side) {
  const nlohmann::json& facts = data.at(side);
  const int64_t rows = facts.value("rows", int64_t{0});
  const int64_t different = facts.value("different_rows", rows);
  const double worth = facts.value("effective_rows", static_cast<double>(different));
  return text(side_name(data, side), ", ", rows, " rows",
              different < rows ? text(", ", different, " different") : "",
              worth < static_cast<double>(different)
                  ? text(", worth ", count_text(worth), " after weighting")
                  : "");
}

std::vector<double> bin_centres(const std::vector<double>& edges) {
  std::vector<double> out;
  for (size_t i = 0; i + 1 < edges.size(); ++i) out.push_back((edges[i] + edges[i + 1]) / 2);
  return out;
}

std::string tail_text(const WeightCheck& check) {
  if (std::isnan(check.pareto_k)) return "unknown: too few rows";
  if (std::isinf(check.pareto_k)) return "none: the weights have no tail";
  return text(number(check.pareto_k), ", good below ", number(check.pareto_threshold));
}

std::string mean_text(const WeightCheck& check) {
  return text(number(check.mean.value, check.mean.standard_error),
              check.reliable ? text(", should be ", right_mean(check.least_mean))
                             : ", which says little here");
}

Chart tail_chart(const std::vector<double>& largest, const WeightCheck& check) {
  std::vector<double> rank;
  for (size_t i = 0; i < largest.size(); ++i) rank.push_back(static_cast<double>(i + 1));
  return {
      "The largest weights",
      text("Weights r of the denominator's rows, mean 1, by rank. Pareto k: ", tail_text(check),
           "."),
      chart_spec(
          records({{"rank", rank}, {"weight", largest}}),
          {layer({{"type", "line"}, {"point", true}},
                 {{"x", log_quantity("rank", "rank")}, {"y", log_quantity("weight", "weight")}})})};
}

Section columns_section(const std::vector<ColumnEffect>& columns) {
  Section section{"Columns", {effects_chart(columns), effects_table(columns)}};
  for (size_t i = 0; i < std::min(columns.size(), most_marginals); ++i)
    section.blocks.emplace_back(marginal_chart(columns[i]));
  if (columns.size() > most_marginals)
    section.blocks.emplace_back(
        Notice{Notice::Kind::note, text("Charts of the first ", most_marginals,
                                        " columns; the table has "
                                        "all ",
                                        columns.size(), ".")});
  return section;
}

}  // namespace dre::report
