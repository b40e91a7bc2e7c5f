/// Correlated Gaussian pairs: x, y in R^(d/2), corr(x_i, y_i) = rho, all else independent. The
/// joint distribution over the product of its marginals N(0, I); KL is the mutual information.
#pragma once

#include "dre/objective/objective.h"
#include "dre/train/trainer.h"
#include "experiments/experiment.h"

namespace dre::experiments {

class GaussianPairs final {
 public:
  /// d: columns of both parts together, even.
  GaussianPairs(int64_t dimension, double rho);

  int64_t dimension() const { return dimension_; }

  /// -d/4 log(1 - rho^2), nats.
  double mutual_information() const;

  /// Joint rows. -> [n, d], x first
  Tensor joint(int64_t n, const torch::TensorOptions& options, at::Generator& generator) const;

  /// Joint rows over independent ones.
  Batch batch(int64_t n, const torch::TensorOptions& options, at::Generator& generator) const;

  /// Exact log r of joint over independent. rows: [n, d] -> [n] float64
  Tensor log_ratio(const Tensor& rows) const;

 private:
  int64_t dimension_;
  double rho_;
};

/// What one would do with a table: `rows` joint rows of which a tenth is held out, and as the
/// denominator `shuffles` random pairings of the same x and y.
TrainData paired_sides(const GaussianPairs& pairs, int64_t rows, int64_t shuffles,
                       const Context& context);

}  // namespace dre::experiments
