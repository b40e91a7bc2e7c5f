/// Layers over rows [n, d]: every column by itself, and all columns by one matrix.
#pragma once

#include "dre/density/layer.h"
#include "dre/density/triangular_pair.h"

namespace dre {

/// y = (x + shift) * exp(log_scale), a pair of numbers for each entry of dimension 1: columns of
/// rows, channels of images (ActNorm of Kingma and Dhariwal 2018).
class Affine final : public Layer {
 public:
  Affine(Parameters& parameters, const std::string& name, int64_t count, const Context& context);

  Moved forward(const Tensor& x) const override;
  Moved inverse(const Tensor& y) const override;

  /// Mean 0 and variance 1 for data like x.
  void initialise(const Tensor& x) override;

 private:
  Tensor broadcast(const Tensor& values, const Tensor& x) const;
  Tensor log_determinant(const Tensor& x) const;

  Tensor shift_, log_scale_;  ///< [count]
};

/// A spline for each column.
class SplineColumns final : public Layer {
 public:
  SplineColumns(Parameters& parameters, const std::string& name, int64_t columns, int64_t bins,
                double bound, const Context& context);

  Moved forward(const Tensor& x) const override;
  Moved inverse(const Tensor& y) const override;

 private:
  Tensor widths_, heights_, slopes_;  ///< free numbers: [d, bins], [d, bins], [d, bins - 1]
  double bound_;
};

/// y = W x with W = L U.
class DenseMatrix final : public Layer {
 public:
  DenseMatrix(Parameters& parameters, const std::string& name, int64_t columns,
              const Context& context);

  Moved forward(const Tensor& x) const override;
  Moved inverse(const Tensor& y) const override;

  /// The symmetric matrix that makes x white, where x has rows enough to tell: more than two a
  /// column.
  void initialise(const Tensor& x) override;

 private:
  TriangularPair matrix_;
};

}  // namespace dre
