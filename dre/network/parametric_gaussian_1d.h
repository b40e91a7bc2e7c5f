/// The paper's one-parameter warm-up: numerator N(0, sigma^2), denominator N(0, 1), on the bridge
/// x_t = sqrt(1-t^2) x0 + t x1. The scores have their true form up to a location theta, truth 0:
///
///     v = 1 - (1-sigma^2)(1-t^2),   s_x = -(x-theta)/v,
///     s_t = t (1-sigma^2) ((x-theta)^2 - v) / v^2
#pragma once

#include "dre/base/context.h"
#include "dre/base/options.h"
#include "dre/network/network.h"

namespace dre {

struct ParametricGaussian1dOptions {
  double sigma = 0.1;
  double start = 1;

  void visit(OptionVisitor& v) {
    v("sigma", sigma, positive(), "standard deviation of the numerator");
    v("start", start, between(-1e6, 1e6), "theta at the start of training; the truth is 0");
  }
};

class ParametricGaussian1d final : public Network {
 public:
  ParametricGaussian1d(const ParametricGaussian1dOptions& options, const Context& context);

  /// x: [n, 1] -> [n, 2], time score and data score.
  Dual forward(const Dual& x, const Dual& t) const override;
  Parameters& parameters() override { return parameters_; }
  const Parameters& parameters() const override { return parameters_; }
  int64_t outputs() const override { return 2; }

 private:
  ParametricGaussian1dOptions options_;
  Parameters parameters_;
  Tensor theta_;
};

}  // namespace dre
