/// Times of the one-sided trigonometric bridge, theta = pi t / 2, with density proportional to
/// sqrt(2 cot^2 theta + 1): what the time score's noise asks for, and nearly uniform in log theta
/// where theta is small. Everything is in closed form but the quantile, which is bisected. The
/// noise of a Brownian bridge asks for the same of 2 theta, alike at both ends.
#pragma once

#include <torch/types.h>

#include "dre/base/context.h"

namespace dre {

class AngleDensity final {
 public:
  /// Angles between which times are drawn, 0 < low < high <= pi / 2.
  AngleDensity(double low, double high);

  /// Of a Brownian bridge: proportional to sqrt(2 cot^2 2 theta + 1), from low to pi / 2 - low, 0 <
  /// low < pi / 4.
  static AngleDensity of_both_ends(double low);

  /// theta and d theta / du at the share u of the distribution, u in [0, 1].
  struct Quantile {
    double angle, slope;
  };
  Quantile at(double u) const;

 private:
  Quantile unmirrored(double u) const;

  double low_, high_;
  bool mirrored_ = false;  // angles are twice those that are asked for, up to the middle
  double start_, total_;   // of the integral of the density
};

/// Draws from it where the work is done, without a word to the host.
class AngleSampler final {
 public:
  AngleSampler(const AngleDensity& density, const torch::TensorOptions& options);

  /// One time t in each of n cells of equal probability, ascending; [n, 1].
  Tensor draw(int64_t n, at::Generator& generator) const;

 private:
  Tensor times_;  // at equally spaced u
};

}  // namespace dre
