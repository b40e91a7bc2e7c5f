/// Quadratic forms y_k = x' W_k x + b_k, one for each output: the classifiers that telescoping
/// ratio estimation uses between Gaussians, whose log-ratios are quadratic.
#pragma once

#include "dre/base/context.h"
#include "dre/base/options.h"
#include "dre/network/network.h"

namespace dre {

struct QuadraticOptions {
  int64_t inputs = 2;
  int64_t outputs = 1;

  void visit(OptionVisitor& v) {
    v("inputs", inputs, at_least(1), "columns of a point");
    v("outputs", outputs, at_least(1), "columns of the output");
  }
};

class Quadratic final : public Network {
 public:
  /// Starts at W = 0, b = 0.
  Quadratic(const QuadraticOptions& options, const Context& context);

  /// Takes no time.
  Dual forward(const Dual& x, const Dual& t) const override;
  Parameters& parameters() override { return parameters_; }
  const Parameters& parameters() const override { return parameters_; }
  int64_t outputs() const override { return options_.outputs; }

 private:
  QuadraticOptions options_;
  Parameters parameters_;
  Tensor forms_;  ///< [outputs * inputs, inputs]
  Tensor bias_;   ///< [outputs]
};

}  // namespace dre
