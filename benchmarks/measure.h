/// One cell of the comparison: a method fitted on fresh data of a pair, judged against the truth.
#pragma once

#include <cstdint>

#include "benchmarks/method.h"
#include "benchmarks/pairs/pair.h"

namespace dre::benchmarks {

struct Score {
  double mse;      ///< mean of (estimate - log r)^2 over the test rows
  double seconds;  ///< wall clock of the method's call
};

/// How many fresh rows an estimate is judged on, both halves together.
constexpr int64_t test_rows = 10'000;

/// Draws `rows` rows a side, calls the method and compares. The data depend on the pair's name and
/// the seed alone, so all methods see the same.
Score measure(const pairs::Pair& pair, const Method& method, int64_t rows, uint64_t seed);

}  // namespace dre::benchmarks
