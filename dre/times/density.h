/// A density over time given by a table: linear between equally spaced nodes, sampled exactly by
/// its inverse cumulative distribution.
#pragma once

#include <torch/types.h>

#include "dre/base/context.h"

namespace dre {

class TabulatedDensity final {
 public:
  /// heights: [g], g >= 2, positive and finite at equally spaced nodes from `low` to `high`; they
  /// are normalised here.
  TabulatedDensity(const Tensor& heights, double low, double high);

  /// t: [n] in [low, high] -> [n] float64
  Tensor operator()(const Tensor& t) const;

  /// u: [n] in [0, 1] -> [n] float64
  Tensor inverse_cdf(const Tensor& u) const;

 private:
  double low_, high_, step_;
  Tensor heights_;     ///< [g]
  Tensor cumulative_;  ///< [g], from 0 to 1
};

}  // namespace dre
