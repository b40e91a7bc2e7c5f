#include "cli/columns.h"

#include <cmath>
#include <cstdio>

#include "cli/output.h"
#include "dre/base/error.h"
#include "dre/data/place.h"

namespace dre::cli {

std::string weight_text(const WeightCheck& check) {
  const std::string tail = std::isfinite(check.pareto_k)
                               ? text("Pareto k ", short_number(check.pareto_k), " (good below ",
                                      short_number(check.pareto_threshold), ")")
                           : std::isnan(check.pareto_k) ? "too few for a Pareto k"
                                                        : "without a tail";
  return text("worth ", count_text(check.effective_rows), " of ", check.rows, " rows, ", tail,
              ", mean ", with_error(check.mean.value, check.mean.standard_error),
              check.reliable ? " (should be 1)" : " (says little here)");
}

std::string column_lines(const std::vector<ColumnEffect>& columns) {
  char line[160];
  std::snprintf(line, sizeof line, "%-28s %-9s %9s %9s %9s %9s\n", "column", "kind", "joint",
                "distance", "after", "shift");
  std::string out = line;
  for (const auto& effect : columns) {
    const std::string shift = std::isnan(effect.shift) ? "-" : short_number(effect.shift);
    const std::string shown_name = listed({effect.name}).substr(0, 28);
    std::snprintf(line, sizeof line, "%-28s %-9s %9.4f %9.4f %9.4f %9s\n", shown_name.c_str(),
                  effect.kind.c_str(), effect.joint, effect.distance, effect.distance_reweighted,
                  shift.c_str());
    out += line;
  }
  return out;
}

}  // namespace dre::cli
