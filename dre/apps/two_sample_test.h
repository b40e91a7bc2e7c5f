/// A two-sample test that is valid whatever the model: log r is learned from one half of the rows,
/// and the labels of the other half are permuted. Under equality all labellings are alike, so the
/// p-value is uniform however good or bad the model is; ties are broken at random.
#pragma once

#include "dre/apps/cross_fit.h"
#include "dre/numeric/logistic_line.h"

namespace dre {

struct TwoSampleTest {
  double p_value = 1;
  double statistic = 0;      ///< mean of tanh(log r / 2) on the numerator minus the denominator
  int64_t rows = 0;          ///< that were permuted
  int64_t permutations = 0;  ///< 0: so many rows that the permutation law is normal
  bool interrupted = false;
  /// Log-ratios of the tested rows with the share of the learned deviation that these rows
  /// themselves prefer: for the effect size, not for the p-value.
  SomeScores rated = {};
};

/// f: [n0], [n1], of the tested rows, at least two of them with a weight. Exact where the rows have
/// no weights. Weights move along with their rows, which is exact where both sides are weighted
/// alike, and nearly so with many rows: there a difference counts by its error. Rows of weight 0
/// are left out.
TwoSampleTest permutation_test(const TwoScores& f, int64_t permutations, at::Generator& generator);

/// Which columns are ranked for outliers is decided from all rows. Fits on half of the rows, and on
/// half of `fit_rows` a side at most, and tests the other half.
TwoSampleTest two_sample_test(const Samples& numerator, const Samples& denominator,
                              const std::vector<std::string>& names, const FitOptions& options,
                              int64_t fit_rows, int64_t permutations, Progress& progress);

}  // namespace dre
