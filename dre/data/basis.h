/// Affine coordinates in which both sides have diagonal covariance, and their moments there
/// (method of the Gaussian reference path: with V0 and V1 diagonal, so is every V_t).
#pragma once

#include "dre/base/named_tensors.h"
#include "dre/data/moments.h"
#include "dre/data/samples.h"

namespace dre {

/// z = (x - c) A, with c midway between the two means, and A such that V̄ = (V0 + V1)/2 becomes the
/// identity and V0 diagonal; hence V1 is diagonal too, variance0 + variance1 = 2, mean0 = -mean1.
///
/// Directions in which both sides are flat (collinear columns, all levels of a one-hot group) are
/// dropped: those whose share of V̄, columns scaled to unit pooled variance, is below 1e-10·d. Both
/// sides lie in the subspace that is left, so log r loses nothing, and k < d.
class Basis final {
 public:
  /// Weighted moments, each side's covariance divided by its sum of weights. Data errors: too few
  /// rows (see rows_needed), or sides that lie in parallel hyperplanes, more than ten times their
  /// thickness apart: nothing but a flat direction separates them and log r is infinite.
  static Basis fit(const Samples& numerator, const Samples& denominator,
                   const std::vector<std::string>& names = {});

  /// x: [n, d], any floating type and device -> [n, k], `dtype`, same device.
  Tensor forward(const Tensor& x, torch::ScalarType dtype = torch::kFloat64) const;

  /// z: [n, k] -> [n, d]; after forward this is x without its part in the dropped directions.
  Tensor inverse(const Tensor& z, torch::ScalarType dtype = torch::kFloat64) const;

  int64_t columns() const { return forward_.size(0); }      ///< d
  int64_t coordinates() const { return forward_.size(1); }  ///< k

  /// The sample moments in the new coordinates.
  const Moments& moments() const { return moments_; }

  /// "basis.*"
  NamedTensors tensors() const;
  static Basis load(const NamedTensors& tensors);

 private:
  Tensor centre_;   ///< [d]
  Tensor forward_;  ///< A: [d, k]
  Tensor inverse_;  ///< [k, d]
  Moments moments_;
};

/// Effective rows a side for d columns, max(10, 2(d+1)): below d+1 rows a covariance is singular,
/// and at twice that its smallest eigenvalues are still a tenth of the true ones.
int64_t rows_needed(int64_t columns);

}  // namespace dre
