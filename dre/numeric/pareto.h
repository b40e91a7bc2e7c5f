/// The generalised Pareto tail of importance weights (Vehtari, Simpson, Gelman, Yao & Gabry: Pareto
/// smoothed importance sampling). Density of an exceedance y over the threshold:
/// (1/σ) (1 + k y/σ)^(-1/k - 1); moments below order 1/k exist. k̂ tells whether sums of the weights
/// can be trusted.
#pragma once

#include <torch/types.h>

#include "dre/base/context.h"

namespace dre {

struct ParetoFit {
  double k = 0;      ///< shape; more than 0 for tails heavier than exponential
  double sigma = 0;  ///< scale
};

/// Zhang & Stephens (2009): a quasi-Bayesian mean over a grid of b = -k/σ, with its profile
/// likelihood. exceedances: [n], n >= 5, not negative, not all zero.
ParetoFit fit_pareto(const Tensor& exceedances);

/// The p-quantiles of the fitted distribution: probabilities [m] in [0, 1) -> [m]
Tensor pareto_quantile(const ParetoFit& fit, const Tensor& probabilities);

struct TailFit {
  double k = 0;          ///< k̂; NaN when there are too few distinct weights for a tail
  double threshold = 0;  ///< k̂ is good below it: min(1 - 1/log10 S, 0.7)
  int64_t tail = 0;      ///< how many weights make the tail: min(0.2 S, 3 sqrt S)
  Tensor smoothed;  ///< [S] log-weights with the tail replaced by its expected order statistics

  bool good() const { return k < threshold; }
};

/// Fewer weights than this say nothing of their tail.
inline constexpr int64_t rows_for_tail = 25;

/// log_weights: [S], S >= rows_for_tail, finite or -infinity. Only differences of log-weights
/// matter for k̂; the smoothed ones keep the scale of the given ones, and none exceeds their
/// largest. k̂ is drawn towards 0.5 with the weight of ten tail points, as small tails make it
/// noisy.
TailFit fit_tail(const Tensor& log_weights);

/// min(1 - 1/log10 S, 0.7)
double pareto_threshold(int64_t samples);

}  // namespace dre
