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

/// The Gaussian m, V that cos(theta) x + sin(theta) eps starts from at each time, and theta.
struct TurningSide {
  Tensor mean, variance;  ///< [n, d]
  Tensor theta;           ///< [n, 1]
};

/// On the one-sided trigonometric bridge the numerator all the way, on the meeting bridge the
/// nearer side. t: [n, 1]
inline TurningSide turning_side(const GaussianEnds& ends, const Tensor& t, bool meeting) {
  if (!meeting) return {ends.mean0.unsqueeze(0), ends.variance0.unsqueeze(0), M_PI / 2 * t};
  const Tensor first = t < 0.5;
  return {torch::where(first, ends.mean0, ends.mean1),
          torch::where(first, ends.variance0, ends.variance1), M_PI * torch::min(t, 1 - t)};
}

/// The two heads of the one-sided velocity score, in units of theta, before they are scaled by f =
/// sin / sqrt(sin^2 + scale) and f^2. The sine in f cancels against those of u^ and w - 1, so that
/// theta = 0 is as good as any other angle.
inline Function one_sided_heads(const GaussianEnds& ends, double head_scale, bool meeting = false) {
  return [=](const Dual& x, const Dual& t) {
    const auto [mean, variance0, theta] = turning_side(ends, t.value, meeting);
    const Tensor sine = theta.sin(), cosine = theta.cos();
    const Tensor variance = cosine.square() * variance0 + sine.square();
    const Tensor slope = cosine * (1 - variance0) / variance;  // Cov(u, x) / V / sin
    const Tensor velocity = -mean + slope * (x.value - cosine * mean);
    const Tensor excess = variance0 - 1 - slope.square() * variance;
    const Tensor norm = sine.square() + head_scale;
    return Dual(torch::cat({norm.sqrt() * velocity, (norm * excess).expand_as(x.value)}, 1));
  };
}

}  // namespace dre::testing
