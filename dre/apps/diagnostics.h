/// What every fit tells about itself: identities that the true ratio obeys, how far its weights can
/// be trusted, divergences, and how well the numerics did.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "dre/apps/support.h"
#include "dre/base/warning.h"
#include "dre/data/samples.h"
#include "dre/ratio/correction.h"
#include "dre/ratio/estimator.h"

namespace dre {

/// Weights w = r on denominator rows, or w = 1/r on numerator rows: they turn one side into the
/// other, and their mean is 1 for the true ratio, where they can reach all rows of that side.
struct WeightCheck {
  Measured mean;        ///< E[w]
  double pareto_k = 0;  ///< tail of the weights; -infinity: none, NaN: fewer than rows_for_tail
  double pareto_threshold = 0;  ///< k̂ is good below it
  double effective_rows = 0;    ///< Kish, of `rows`
  int64_t rows = 0;
  /// False where E[w] says little: the divergence exceeds 1, where even the true ratio's mean is
  /// far from 1 in samples of usual size, or k̂ is not good.
  bool reliable = false;
  /// E[w] should be between this and 1: less where rows of that side seem to have no counterpart.
  double least_mean = 1;
};

/// log_weight: [n]; weight: [n], of the rows themselves; divergence: the KL divergence of the side
/// that the weights lead to from the side of the rows.
WeightCheck check_weights(const Tensor& log_weight, const Tensor& weight, double divergence);

/// What E[w] should be, in words: "1", or "0.67 to 1" where weights do not reach all rows.
std::string right_mean(double least_mean);

/// Whether the weights have a heavy tail, and are not nearly equal besides.
bool is_decided_by_few(const WeightCheck& check);

/// Warnings about weights called `name` ("r") of rows of a side.
std::vector<Warning> judge_weights(const WeightCheck& check, const std::string& name,
                                   const std::string& side);

nlohmann::json to_json(const WeightCheck& check);

/// The largest weights in falling order, of mean 1 over all; at most 200. log_weight: [n]; weight:
/// [n], of the rows themselves.
std::vector<double> largest_weights(const Tensor& log_weight, const Tensor& weight);

/// |log r along the path - log r along the horizontal path|: zero for exact scores.
struct PathCheck {
  std::string path;
  double root_mean_square = 0, largest = 0;
  int64_t rows = 0;
};

struct Diagnostics {
  Measured kl_numerator_denominator;  ///< E_num[log r], nats; NaN where it is known to be infinite
  Measured kl_denominator_numerator;  ///< -E_den[log r], nats; likewise
  WeightCheck denominator;            ///< of w = r
  WeightCheck numerator;              ///< of w = 1/r
  std::vector<PathCheck> paths;       ///< of methods with several paths
  double quadrature_error = 0;        ///< the largest over the rows
  int64_t evaluations = 0;            ///< of the network, for the row that needed most
  Status status = Status::ok;
  std::optional<Support> support;          ///< where the columns' encoding is known
  std::optional<Measured> reweighted_auc;  ///< where a fresh classifier was asked; 0.5 is perfect,
                                           ///< NaN where too few rows are left to train it
  std::vector<Warning> warnings;
};

/// Rows in raw coordinates, best those that the fit did not learn from, at least two a side.
/// Numerical error where log r is not finite at some of them.
Diagnostics diagnose(const Estimator& estimator, const Samples& numerator,
                     const Samples& denominator);

/// The same where the log-ratios are known; the rows have positive weights. support: of both sides,
/// where it is known.
Diagnostics diagnose(const Estimator& estimator, const Samples& numerator,
                     const Estimate& at_numerator, const Samples& denominator,
                     const Estimate& at_denominator, const std::optional<Support>& support = {});

/// NaN and infinity become null.
nlohmann::json to_json(const Diagnostics& diagnostics);

/// The paths besides the horizontal one that all members with a weight offer; none where the
/// reference stands alone.
Names other_paths(const Estimator& estimator);

/// The largest difference between a path of other_paths() and the horizontal one.
/// raw: [n, columns] -> [n], float64.
Tensor path_disagreement(const Estimator& estimator, const Tensor& raw,
                         const IntegrateOptions& options = {});

}  // namespace dre
