/// What the networks of the velocity scores would say if they were exact, for Gaussian ends. Values
/// only, without tangents.
#pragma once

#include <cmath>

#include "tests/support/exact_network.h"
#include "tests/support/gaussian_pair.h"

namespace dre::testing {

/// Data score, conditional mean of the drift a' x0 + b' x1, and contraction, side by side: all from
/// the joint Gaussian of (x0, x1, eps) given x_t = a x0 + b x1 + sigma eps.
inline Function velocity_heads(const GaussianEnds& ends, const BridgePtr& bridge) {
  return [=](const Dual& x, const Dual& t) {
    const auto [a, b, noise] = bridge->at(t.value);
    const Tensor variance =
        a.value.square() * ends.variance0 + b.value.square() * ends.variance1 + noise.value;
    const Tensor scaled = (x.value - a.value * ends.mean0 - b.value * ends.mean1) / variance;
    // Cov(a' x0 + b' x1, x_t)
    const Tensor covariance =
        a.first * a.value * ends.variance0 + b.first * b.value * ends.variance1;
    const Tensor drift = a.first * ends.mean0 + b.first * ends.mean1 + covariance * scaled;
    const Tensor contraction = -(covariance + 0.5 * noise.first) / variance;
    return Dual(torch::cat({-scaled, drift, contraction.expand_as(x.value)}, 1));
  };
}

/// The two heads of the one-sided velocity score for q = N(m0, V0) over N(0, I), in units of theta,
/// before they are scaled by f = sin / sqrt(sin^2 + scale) and f^2. The sine in f cancels against
/// those of u^ and w - 1, so that t = 0 is as good as any other time.
inline Function one_sided_heads(const GaussianEnds& ends, double head_scale) {
  return [=](const Dual& x, const Dual& t) {
    const Tensor theta = M_PI / 2 * t.value, sine = theta.sin(), cosine = theta.cos();
    const Tensor variance = cosine.square() * ends.variance0 + sine.square();
    const Tensor slope = cosine * (1 - ends.variance0) / variance;  // Cov(u, x) / V / sin
    const Tensor velocity = -ends.mean0 + slope * (x.value - cosine * ends.mean0);
    const Tensor excess = ends.variance0 - 1 - slope.square() * variance;
    const Tensor norm = sine.square() + head_scale;
    return Dual(torch::cat({norm.sqrt() * velocity, (norm * excess).expand_as(x.value)}, 1));
  };
}

}  // namespace dre::testing
