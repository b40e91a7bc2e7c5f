/// The Gaussian reference path: what the bridge would be if both sides were Gaussian with the given
/// moments, p_t = N(m_t, V_t), m_t = a m0 + b m1, V_t = a^2 V0 + b^2 V1 + sigma^2 (diagonal, so
/// everything costs O(d)).
#pragma once

#include "dre/bridge/bridge.h"

namespace dre {

/// An element-wise function of a coordinate x_i and the time, with its partial derivatives; each
/// [n, d].
struct Partial {
  Tensor value, by_time, by_x;
};

/// Means and diagonal variances of the two sides, [d] each, in float64.
struct GaussianEnds {
  Tensor mean0, variance0;  ///< numerator, t = 0
  Tensor mean1, variance1;  ///< denominator, t = 1

  /// On another device or in another precision.
  GaussianEnds to(const torch::TensorOptions& where) const;
};

/// log N(x; m0, V0) - log N(x; m1, V1), in float64: [n, d] -> [n].
Tensor gaussian_log_ratio(const GaussianEnds& ends, const Tensor& x);

class GaussianPath final {
 public:
  GaussianPath(BridgePtr bridge, GaussianEnds ends);

  /// x: [n, d], t: [n, 1] -> log N(x; m_t, V_t), [n].
  Tensor log_density(const Tensor& x, const Tensor& t) const;

  /// The same for every row at every one of some times, in float64: x: [n, d], t: [K] -> [n, K].
  Tensor log_densities(const Tensor& x, const Tensor& t) const;

  /// Contributions of the coordinates to the time score; their sum over i is d/dt log N(x; m_t,
  /// V_t): -V'/2V + m' rho/V + rho^2 V'/2V^2 with rho = x - m_t.
  Partial time_score(const Tensor& x, const Tensor& t) const;

  /// grad_x log N(x; m_t, V_t) = -rho/V.
  Partial data_score(const Tensor& x, const Tensor& t) const;

  /// E[dx_t/dt | x_t = x] = m' + rho V'/2V. Its derivative by x is the flow's divergence,
  /// coordinate by coordinate.
  Partial velocity(const Tensor& x, const Tensor& t) const;

  /// -V'/2V, minus the divergence of that velocity coordinate by coordinate.
  Partial contraction(const Tensor& x, const Tensor& t) const;

  /// Between the two sides themselves, in float64: [n, d] -> [n].
  Tensor log_ratio(const Tensor& x) const { return gaussian_log_ratio(ends_, x); }

  /// The same between the path's actual ends, which for some bridges are not the sides.
  Tensor path_log_ratio(const Tensor& x) const;

  /// m1 + (V1/V0)^(1/2) (x - m0): carries the numerator's Gaussian to the denominator's.
  Tensor transport(const Tensor& x) const;

  const Bridge& bridge() const { return *bridge_; }
  const BridgePtr& bridge_pointer() const { return bridge_; }
  const GaussianEnds& ends() const { return ends_; }
  int64_t dimension() const { return ends_.mean0.size(0); }

 private:
  struct Moments {
    Jet mean, variance;  // [n, d] each
  };
  Moments moments(const Tensor& t) const;

  BridgePtr bridge_;
  GaussianEnds ends_;         // float64
  GaussianEnds ends_single_;  // float32, so that training does not cast at every step
};

using ReferencePtr = std::shared_ptr<const GaussianPath>;

}  // namespace dre
