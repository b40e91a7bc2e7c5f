/// Layers over rows [n, d]: every column by itself, and all columns by one matrix.
#pragma once

#include "dre/density/layer.h"
#include "dre/density/spline.h"
#include "dre/density/triangular_pair.h"

namespace dre {

/// y = (x + shift) * exp(log_scale), a pair of numbers for each entry of dimension 1: columns of
/// rows, channels of images (ActNorm of Kingma and Dhariwal 2018).
class Affine final : public Layer {
 public:
  /// reach: where the start is to bring data, see initialise().
  Affine(Parameters& parameters, const std::string& name, int64_t count, double reach,
         const Context& context);

  Moved forward(const Tensor& x) const override;
  Moved inverse(const Tensor& y) const override;

  /// Mean 0 and variance 1 for data like x; with a positive reach, all of them within +-reach.
  void initialise(const Tensor& x) override;

 private:
  Tensor broadcast(const Tensor& values, const Tensor& x) const;
  Tensor log_determinant(const Tensor& x) const;

  double reach_;
  Tensor shift_, log_scale_;  ///< [count]
};

/// A spline for each column.
class SplineColumns final : public Layer {
 public:
  SplineColumns(Parameters& parameters, const std::string& name, int64_t columns, int64_t bins,
                double bound, const Context& context);

  Moved forward(const Tensor& x) const override;
  Moved inverse(const Tensor& y) const override;

  /// Makes every column normal: knots go through its quantiles. Data should lie within the bound;
  /// too few rows leave the identity.
  void initialise(const Tensor& x) override;

 private:
  SplineNumbers numbers_;  ///< of d splines
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
