#include "dre/dual/linear.h"

#include <torch/csrc/autograd/custom_function.h>

#include "dre/dual/once.h"
#include "dre/dual/stacked.h"

namespace dre {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// An absent tangent or bias is an empty tensor, since autograd functions take defined ones only.
class LinearFunction : public torch::autograd::Function<LinearFunction> {
 public:
  static variable_list forward(AutogradContext* context, const Tensor& x, const Tensor& xdot,
                               const Tensor& weight, const Tensor& bias) {
    context->save_for_backward({x, xdot, weight});
    context->saved_data["input"] = x.requires_grad() || xdot.requires_grad();
    context->saved_data["bias"] = bias.numel() > 0;
    if (xdot.numel() == 0) {
      const Tensor y = bias.numel() > 0 ? at::addmm(bias, x, weight.t()) : at::mm(x, weight.t());
      return {y, at::empty({0}, y.options())};
    }
    const Dual out = empty_pair({x.size(0), weight.size(0)}, x.options());
    Tensor both = stacked(out.value, out.tangent);
    at::mm_out(both, stacked(x, xdot), weight.t());
    if (bias.numel() > 0) Tensor(out.value).add_(bias);
    return {out.value, out.tangent};
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    check_first_derivative("linear");
    const variable_list saved = context->get_saved_variables();
    const Tensor &x = saved[0], &xdot = saved[1], &weight = saved[2];
    const bool pair = xdot.numel() > 0;
    const Tensor pulled = pair ? stacked(gradients[0], gradients[1]) : gradients[0];
    const Tensor inputs = pair ? stacked(x, xdot) : x;
    variable_list out(4);
    if (context->saved_data["input"].toBool()) {
      const Dual gx = pair ? empty_pair(x.sizes(), x.options()) : Dual(at::empty_like(x));
      Tensor both = pair ? stacked(gx.value, gx.tangent) : gx.value;
      at::mm_out(both, pulled, weight);
      out[0] = gx.value;
      out[1] = gx.tangent;
    }
    out[2] = at::mm(pulled.t(), inputs);
    if (context->saved_data["bias"].toBool()) out[3] = gradients[0].sum(0);
    return out;
  }
};

}  // namespace

Dual linear(const Dual& x, const Tensor& weight, const Tensor& bias) {
  check(x.value.dim() == 2 && x.value.size(1) == weight.size(1), "linear takes [n, ",
        weight.size(1), "], got ", x.value.sizes());
  const Tensor none = at::empty({0}, x.value.options());
  const variable_list out = LinearFunction::apply(x.value, x.has_tangent() ? x.tangent : none,
                                                  weight, bias.defined() ? bias : none);
  return {out[0], x.has_tangent() ? out[1] : Tensor()};
}

}  // namespace dre
