/// Polynomial ridge regression in one variable:
/// minimise Σ (y - c_0 - Σ_j c_j t^j)² + penalty Σ_{j>=1} c_j²; the intercept is not penalised.
#pragma once

#include <torch/types.h>

#include "dre/base/context.h"

namespace dre {

struct Polynomial {
  Tensor coefficients;  ///< [degree + 1] float64, the constant first

  /// t: any shape -> same shape, float64
  Tensor operator()(const Tensor& t) const;
};

/// t, y: [n] with n >= 1, degree >= 0, penalty >= 0. With no penalty it is least squares, which
/// needs more than `degree` distinct t.
Polynomial fit_ridge(const Tensor& t, const Tensor& y, int64_t degree, double penalty);

}  // namespace dre
