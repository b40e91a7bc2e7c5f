/// What every quadrature shares: evaluation of the integrand in calls of bounded size, and the
/// verdict on the sums.
#pragma once

#include <torch/types.h>

#include "dre/integrate/quadrature.h"

namespace dre {

/// A row integrand at many nodes at once, in float64 on return.
class RowSampler final {
 public:
  RowSampler(const RowIntegrand& integrand, const QuadratureOptions& options,
             const torch::TensorOptions& tensors);

  /// rows: [m] int64, t: [m, k] float64 -> [m, k] float64
  Tensor operator()(const Tensor& rows, const Tensor& t);

  /// float64 tensors on the integrand's device, for the sums.
  torch::TensorOptions sums() const { return torch::dtype(torch::kFloat64).device(device_); }
  torch::TensorOptions counts() const { return torch::dtype(torch::kInt64).device(device_); }

  /// The error of a sum relative to ∫|f| that rounding inside the integrand alone can make.
  double noise() const;

 private:
  Tensor call(const Tensor& rows, const Tensor& t);

  const RowIntegrand& integrand_;
  int64_t max_points_;
  torch::Device device_;
  torch::ScalarType given_;     ///< type of the t that the integrand gets
  torch::ScalarType returned_;  ///< type of the last values that it gave
};

/// What a quadrature knows of every row: [n] each.
struct RowSums {
  Tensor value, error, absolute;  ///< ∫f, its estimated error, ∫|f|
  Tensor evaluations;             ///< int64
};

/// max(atol, rtol |value|, noise ∫|f|): [n]
Tensor tolerance(const RowSums& sums, const QuadratureOptions& options, double noise);

/// The sums with their status; the error is not reported below the noise.
Integral conclude(const RowSums& sums, const QuadratureOptions& options, double noise);

void check_interval(int64_t rows, double from, double to);

}  // namespace dre
