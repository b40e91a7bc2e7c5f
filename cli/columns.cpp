#include "cli/columns.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "cli/output.h"
#include "dre/base/error.h"
#include "dre/data/place.h"

namespace dre::cli {
namespace {

/// How many letters UTF-8 text has: all bytes but those that continue one.
size_t letters(const std::string& text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char byte) { return (byte & 0xC0) != 0x80; }));
}

std::string padded(const std::string& text, size_t width) {
  return text + std::string(width - letters(text), ' ');
}

}  // namespace

std::string weight_text(const WeightCheck& check) {
  const std::string tail = std::isfinite(check.pareto_k)
                               ? text("Pareto k ", short_number(check.pareto_k), " (good below ",
                                      short_number(check.pareto_threshold), ")")
                           : std::isnan(check.pareto_k) ? "too few for a Pareto k"
                                                        : "without a tail";
  return text("worth ", count_text(check.effective_rows), " of ", check.rows, " rows, ", tail,
              ", mean ", with_error(check.mean.value, check.mean.standard_error),
              check.reliable ? text(" (should be ", right_mean(check.least_mean), ")")
                             : " (says little here)");
}

std::string column_lines(const std::vector<ColumnEffect>& columns) {
  size_t width = 28;
  for (const auto& effect : columns) width = std::max(width, letters(listed({effect.name})));
  char rest[120];
  std::snprintf(rest, sizeof rest, " %-9s %9s %9s %9s %9s\n", "kind", "joint", "distance", "after",
                "shift");
  std::string out = padded("column", width) + rest;
  for (const auto& effect : columns) {
    const std::string shift = std::isnan(effect.shift) ? "-" : short_number(effect.shift);
    std::snprintf(rest, sizeof rest, " %-9s %9.4f %9.4f %9.4f %9s\n", effect.kind.c_str(),
                  effect.joint, effect.distance, effect.distance_reweighted, shift.c_str());
    out += padded(listed({effect.name}), width) + rest;
  }
  return out;
}

}  // namespace dre::cli
