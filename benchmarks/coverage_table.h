/// The table of a coverage study: how often intervals held the truth, from one line an estimate.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "dre/apps/divergence.h"

namespace dre::benchmarks {

/// One estimate of one seed.
struct CoverageLine {
  /// The measure whose lines are p-values of the two-sample test.
  static constexpr const char* p_value = "p-value";

  std::string pair, measure;
  int64_t seed = 0;
  double truth = 0;
  Divergence found;

  nlohmann::json to_json() const;
};

/// Lines of JSON from files, in the order of the files. A line that is none, and a second one of
/// the same pair, measure and seed, is an error that names it.
std::vector<CoverageLine> read_coverage(const std::vector<std::string>& files);

/// Markdown: a row for each pair and measure, and for pairs without a difference the distance of
/// their p-values from uniform ones. Pairs and measures keep the order in which they come first.
std::string coverage_table(const std::vector<CoverageLine>& lines);

}  // namespace dre::benchmarks
