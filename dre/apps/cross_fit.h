/// Cross-fitting: every row is rated by a model that has not seen it, and, to learn from the
/// difference, some by models that have.
#pragma once

#include <string>
#include <vector>

#include "dre/apps/opinions.h"
#include "dre/base/warning.h"

namespace dre {

struct CrossFitOptions {
  static constexpr int64_t most_folds = 100;

  int64_t folds = 5;
  int64_t fit_rows = 200'000;

  void visit(OptionVisitor& v);
};

/// A fit for jobs that need several: one method, a smaller network and less patience than dre fit
/// has.
FitOptions quick_fit();

/// fit() by a method that so few rows can carry: the held-out rows must show every time of
/// which-time; below that the plain classifier does the work.
FitResult fit_any(const Samples& numerator, const Samples& denominator,
                  const std::vector<std::string>& names, FitOptions options, Progress& progress);

/// Rows of one side of which every fold has the same share. -> [n], int64, in 0 .. folds - 1
Tensor assign_folds(int64_t rows, int64_t folds, at::Generator& generator);

/// Out-of-fold log-ratios of one side.
struct OutOfFold {
  Tensor log_ratio;  ///< [n], float64
  Tensor fold;       ///< [n], int64: the fold whose model did not see the row
};

/// Some rows of each side, int64.
struct RowsOfSides {
  Tensor numerator, denominator;
};

struct CrossFit {
  OutOfFold numerator, denominator;
  std::vector<FitResult> fits;         ///< fits[k] was made without the rows of fold k
  std::vector<RowsOfSides> trained;    ///< trained[k] are the rows that trained fits[k]
  BelievedOpinions believed;           ///< by the rows of all folds
  int64_t refuted0 = 0, refuted1 = 0;  ///< rows of each side of which something was not believed
  double share = 1;                    ///< of the learned deviation in all of them
  bool interrupted = false;            ///< then nothing else is filled in

  /// As the model of a fold rates rows, as far as it is believed. raw: [n, columns] -> [n]
  Tensor log_ratio(size_t fold, const Tensor& raw) const;
};

/// A fit trains on at most `fit_rows` rows a side, a random sample of them: beyond that a network
/// of this size does not get better, and time no longer grows.
CrossFit cross_fit(const Samples& numerator, const Samples& denominator,
                   const std::vector<std::string>& names, const CrossFitOptions& options,
                   const FitOptions& fit_options, Progress& progress);

std::vector<Warning> judge_ratios(const CrossFit& rated);

/// Log-ratios of some rows, of which one may be there more than once.
struct SomeScores {
  TwoScores scores;
  RowsOfSides rows;
};

/// What each fit says of rows that trained it, 2 000 a side and fit at most.
SomeScores rate_seen(const CrossFit& rated, const Samples& numerator, const Samples& denominator,
                     at::Generator& generator);

/// Calls work(0) .. work(count - 1) on as many threads as LibTorch uses, each of which then
/// computes on its own thread alone: the results do not depend on their number.
void side_by_side(int64_t count, const std::function<void(int64_t)>& work);

/// At most `rows` rows, a random sample.
Samples sampled(const Samples& samples, int64_t rows, at::Generator& generator);

/// Which rows that would be, of `all`: int64, in order.
Tensor sampled_rows(int64_t all, int64_t rows, at::Generator& generator);

}  // namespace dre
