/// Diagonal Gaussian pairs with known moments: the exact world in which scores, objectives and
/// paths are tested.
#pragma once

#include "dre/bridge/gaussian_path.h"
#include "dre/network/parameters.h"
#include "dre/objective/objective.h"
#include "tests/support/gaussian_oracle.h"

namespace dre::testing {

inline Context double_context(uint64_t seed = 0) { return {torch::kCPU, torch::kFloat64, seed}; }

/// Means up to 0.6 apart and variances between 0.5 and 1.5, different in every coordinate.
inline GaussianEnds gaussian_ends(int64_t d) {
  const Tensor k = torch::arange(d, torch::kFloat64);
  return {0.3 * (k + 1).sin(), 1 + 0.5 * (2 * k + 1).cos(), -0.3 * (k + 1).sin(),
          1 - 0.3 * (k + 2).sin()};
}

/// The same numerator over a denominator that is N(0, I).
inline GaussianEnds one_sided_ends(int64_t d) {
  GaussianEnds ends = gaussian_ends(d);
  ends.mean1 = torch::zeros_like(ends.mean1);
  ends.variance1 = torch::ones_like(ends.variance1);
  return ends;
}

inline Batch draw_batch(const GaussianEnds& ends, int64_t n, at::Generator& generator) {
  const auto side = [&](const Tensor& mean, const Tensor& variance) {
    return mean + variance.sqrt() * normal({n, mean.size(0)}, mean.options(), generator);
  };
  const Tensor x0 = side(ends.mean0, ends.variance0);
  return {x0, side(ends.mean1, ends.variance1)};
}

/// The bridge by name; the dequantified one smooths enough to be seen.
inline BridgePtr bridge_named(const std::string& name) {
  BridgeOptions options;
  options.bridge = name;
  options.smoothing = 0.05;
  return make_bridge(options);
}

inline oracle::GaussianOracle oracle_of(const GaussianEnds& ends) {
  return {oracle::diagonal(ends.mean0, ends.variance0),
          oracle::diagonal(ends.mean1, ends.variance1)};
}

/// The bridge as the oracle sees it: its values only, all derivatives by autograd.
inline oracle::Path oracle_path(BridgePtr bridge) {
  return [bridge](const Tensor& t) -> oracle::Coefficients {
    const Coefficients c = bridge->at(t);
    return {c.a.value, c.b.value, c.variance.value};
  };
}

/// Points in space and time, away from the ends where some bridges have roots.
struct Points {
  Tensor x;  ///< [n, d]
  Tensor t;  ///< [n, 1] in [0.05, 0.95]
};

inline Points draw_points(int64_t n, int64_t d, uint64_t seed = 1) {
  const Context context = double_context(seed);
  auto generator = context.generator("points");
  const Tensor x = normal({n, d}, context.options(), generator);
  return {x, 0.05 + 0.9 * uniform({n, 1}, context.options(), generator)};
}

/// Weights with no zero and no symmetry among them: scores are made with a last layer of zeros.
inline void randomise(Parameters& parameters, uint64_t seed = 2, double scale = 0.3) {
  const torch::NoGradGuard no_grad;
  auto generator = double_context(seed).generator("weights");
  for (const auto& [name, leaf] : parameters.named())
    leaf.copy_(scale * normal(leaf.sizes(), torch::kFloat64, generator));
}

}  // namespace dre::testing
