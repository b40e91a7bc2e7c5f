/// Distributions one can sample from and whose density is exact: the parts that pairs are made of.
/// Of rows that repeat (categories, counts) it is a probability.
/// All rows and values are float64 on the host.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <memory>

namespace dre::pairs {

using torch::Tensor;

class Density {
 public:
  virtual ~Density() = default;
  virtual int64_t dimension() const = 0;

  /// -> [n, d]
  virtual Tensor sample(int64_t n, at::Generator& generator) const = 0;

  /// x: [n, d] -> [n]; -inf outside the support
  virtual Tensor log_prob(const Tensor& x) const = 0;
};

using DensityPtr = std::shared_ptr<const Density>;

/// N(mean, covariance). mean: [d], covariance: [d, d]
DensityPtr gaussian(const Tensor& mean, const Tensor& covariance);

/// Multivariate Student t. location: [d], scale: [d, d]; its marginals are Student t with the same
/// degrees of freedom and the blocks of `scale`.
DensityPtr student(int64_t degrees, const Tensor& location, const Tensor& scale);

/// Uniform on the interval (low, high).
DensityPtr uniform_interval(double low, double high);

/// U + W with U uniform on (0, 1) and W uniform on (-width, width).
DensityPtr uniform_plus_uniform(double width);

/// U + W with U uniform on (0, 1) and W normal with standard deviation `deviation`.
DensityPtr uniform_plus_gaussian(double deviation);

/// All mass at one row; "density" is probability there. place: [d]
DensityPtr point(const Tensor& place);

/// Counts 0, 1, 2, ... with this mean, in one column.
DensityPtr poisson(double mean);

/// Throws a usage error unless x is [n, dimension] in float64.
void check_rows(const Tensor& x, int64_t dimension);

}  // namespace dre::pairs
