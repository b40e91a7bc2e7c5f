/// Times of trigonometric bridges to N(0, I), whose angle theta has a density proportional to
/// sqrt(2 cot^2 theta + 1): what the time score's noise asks for, and nearly uniform in log theta
/// where theta is small. Everything is in closed form but the quantile, which is bisected.
#pragma once

#include <torch/types.h>

#include "dre/base/context.h"

namespace dre {

class AngleDensity final {
 public:
  /// Of the one-sided bridge, theta = pi t / 2, between two angles, 0 < low < high <= pi / 2.
  AngleDensity(double low, double high);

  /// Of two bridges that meet at t = 1/2, theta = pi min(t, 1 - t), alike on both sides and each
  /// from `low` on, 0 < low < pi / 2.
  static AngleDensity of_both_sides(double low);

  /// t and dt/du at the share u of the distribution, u in [0, 1].
  struct Quantile {
    double t, slope;
  };
  Quantile at(double u) const;

 private:
  Quantile one_sided(double u) const;

  double low_, high_;
  bool both_sides_ = false;
  double start_, total_;  // of the integral of the density
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
