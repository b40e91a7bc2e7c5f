/// The exact scores of a Gaussian numerator N(0, I+S) against N(0, I), with S to be learned: the
/// parametric network of the mutual information experiments. On x_t = sqrt(1-t^2) x0 + t eps
///
///     M = (I + (1-t^2) S)^-1,   s_x = -M x,   s_t = -t (x' M S M x - tr(S M))
///
/// I + S = exp(A) with a free symmetric A, so it is positive definite for every value of the
/// parameter. In the eigenbasis of A everything is diagonal for every row at once.
#pragma once

#include <mutex>

#include "dre/base/context.h"
#include "dre/base/options.h"
#include "dre/network/network.h"

namespace dre {

struct ParametricGaussianOptions {
  int64_t inputs = 2;

  void visit(OptionVisitor& v) { v("inputs", inputs, at_least(1), "columns of a point"); }
};

class ParametricGaussian final : public Network {
 public:
  /// Starts at S = 0.
  ParametricGaussian(const ParametricGaussianOptions& options, const Context& context);

  /// Column 0 is the time score, columns 1 ... inputs are the data score.
  Dual forward(const Dual& x, const Dual& t) const override;
  Parameters& parameters() override { return parameters_; }
  const Parameters& parameters() const override { return parameters_; }
  int64_t outputs() const override { return 1 + options_.inputs; }

  /// I + S: [inputs, inputs], the covariance of the numerator.
  Tensor covariance() const;

 private:
  struct Spectrum {
    Tensor root;     ///< the parameter that was decomposed
    Tensor values;   ///< [d] eigenvalues of A
    Tensor vectors;  ///< [d, d], eigenvectors in columns
  };

  /// Of the parameter as it is now; decomposed anew only after it has changed.
  Spectrum spectrum() const;

  ParametricGaussianOptions options_;
  Parameters parameters_;
  Tensor root_;  ///< [d, d]; A is its symmetric part
  mutable std::mutex mutex_;
  mutable Spectrum spectrum_;
};

}  // namespace dre
