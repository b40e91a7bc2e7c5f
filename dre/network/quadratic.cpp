#include "dre/network/quadratic.h"

#include "dre/dual/linear.h"

namespace dre {

Quadratic::Quadratic(const QuadraticOptions& options, const Context& context) : options_(options) {
  validate(options);
  const int64_t rows = options.outputs * options.inputs;
  forms_ = parameters_.add("forms", at::zeros({rows, options.inputs}, context.options()));
  bias_ = parameters_.add("bias", at::zeros({options.outputs}, context.options()));
}

Dual Quadratic::forward(const Dual& x, const Dual& t) const {
  check_point(x, t, options_.inputs, false);
  const Dual products = linear(x, forms_, Tensor());  // W_k x for all k beside each other
  const auto by_form = [&](const Tensor& all) {
    return all.defined() ? all.view({-1, options_.outputs, options_.inputs}) : Tensor();
  };
  const auto column = [](const Tensor& all) { return all.defined() ? all.unsqueeze(1) : Tensor(); };
  const Dual forms(by_form(products.value), by_form(products.tangent));
  return sum(forms * Dual(column(x.value), column(x.tangent)), 2) + Dual(bias_);
}

}  // namespace dre
