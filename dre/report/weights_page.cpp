#include "dre/report/weights_page.h"

#include <algorithm>

#include "dre/base/error.h"
#include "dre/base/version.h"
#include "dre/data/place.h"
#include "dre/report/page_parts.h"

namespace dre::report {
namespace {

std::string verdict(const WeightsResult& result) {
  const auto largest = [&](double ColumnEffect::*distance) {
    double most = 0;
    for (const auto& column : result.columns) most = std::max(most, column.*distance);
    return most;
  };
  const WeightCheck& check = result.check;
  const char* rows =
      result.data.at("denominator").contains("different_rows") ? " different rows" : " rows";
  return text("With these weights the ", check.rows, rows, " of the denominator are worth ",
              count_text(check.effective_rows),
              ". The largest distance of a column from the numerator ", "goes from ",
              number(largest(&ColumnEffect::distance)), " to ",
              number(largest(&ColumnEffect::distance_reweighted)), ".");
}

Section summary_section(const WeightsResult& result) {
  Section section{"Summary", {Prose{verdict(result)}}};
  for (const auto& [code, message] : result.warnings)
    section.blocks.emplace_back(Notice{Notice::Kind::warning, text(message, " (", code, ")")});
  const WeightCheck& check = result.check;
  section.blocks.emplace_back(
      Facts{{{"numerator (target)", side_text(result.data, "numerator")},
             {"denominator (source)", side_text(result.data, "denominator")},
             {"weights", "r = numerator / denominator, " + result.how},
             {"effective rows", text(count_text(check.effective_rows), " of ", check.rows)},
             {"Pareto k", tail_text(check)},
             {"mean of r", mean_text(check)}}});
  return section;
}

}  // namespace

Page weights_page(const WeightsResult& result) {
  Section closure = columns_section(result.columns);
  closure.title = "Closure: numerator against reweighted denominator";
  return {"Importance weights",
          text(side_name(result.data, "denominator"), " made to look like ",
               side_name(result.data, "numerator")),
          {summary_section(result),
           {"Tail of the weights", {tail_chart(result.largest_weights, result.check)}},
           closure},
          text("Made by dre ", version(), ".")};
}

}  // namespace dre::report
