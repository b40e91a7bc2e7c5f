#include "dre/dual/layers.h"

#include <torch/csrc/autograd/custom_function.h>

#include <array>

#include "dre/base/error.h"
#include "dre/dual/once.h"
#include "dre/dual/stacked.h"

namespace dre {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// What all convolutions of ATen take.
struct Layout {
  std::array<int64_t, 2> stride, padding, output_padding, dilation = {1, 1};
  bool transposed;

  Layout(const Convolution& of, bool is_transposed)
      : stride{of.stride, of.stride},
        padding{of.padding, of.padding},
        output_padding{of.output_padding, of.output_padding},
        transposed(is_transposed) {}

  Tensor apply(const Tensor& x, const Tensor& weight, const Tensor& bias) const {
    return at::convolution(x, weight, bias, stride, padding, dilation, transposed, output_padding,
                           1);
  }

  /// Gradients of input, where it is wanted, and weight.
  std::array<Tensor, 2> pull(const Tensor& gradient, const Tensor& x, const Tensor& weight,
                             bool input) const {
    const auto found =
        at::convolution_backward(gradient, x, weight, at::OptionalIntArrayRef(), stride, padding,
                                 dilation, transposed, output_padding, 1, {input, true, false});
    return {std::get<0>(found), std::get<1>(found)};
  }
};

/// A x + b and its tangent A xdot by one convolution of twice the rows. An absent bias is an empty
/// tensor, since autograd functions take defined ones only.
class PairConvolution : public torch::autograd::Function<PairConvolution> {
 public:
  static variable_list forward(AutogradContext* context, const Tensor& x, const Tensor& xdot,
                               const Tensor& weight, const Tensor& bias, const Convolution& options,
                               bool transposed) {
    context->save_for_backward({x, xdot, weight});
    context->saved_data["input"] = x.requires_grad() || xdot.requires_grad();
    context->saved_data["bias"] = bias.numel() > 0;
    context->saved_data["options"] =
        std::vector<int64_t>{options.stride, options.padding, options.output_padding};
    context->saved_data["transposed"] = transposed;
    const Dual out = pair_of(Layout(options, transposed).apply(stacked(x, xdot), weight, {}));
    if (bias.numel() > 0) Tensor(out.value).add_(bias.view({-1, 1, 1}));
    return {out.value, out.tangent};
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    check_first_derivative("a convolution");
    const variable_list saved = context->get_saved_variables();
    const auto options = context->saved_data["options"].toIntVector();
    const Layout layout({options[0], options[1], options[2]},
                        context->saved_data["transposed"].toBool());
    const bool input = context->saved_data["input"].toBool();
    const auto [g_both, g_weight] = layout.pull(stacked(gradients[0], gradients[1]),
                                                stacked(saved[0], saved[1]), saved[2], input);
    variable_list out(6);
    if (input) {
      const Dual pulled = pair_of(g_both);
      out[0] = pulled.value;
      out[1] = pulled.tangent;
    }
    out[2] = g_weight;
    if (context->saved_data["bias"].toBool()) out[3] = gradients[0].sum({0, 2, 3});
    return out;
  }
};

Dual convolution(const Dual& x, const Tensor& weight, const Tensor& bias,
                 const Convolution& options, bool transposed) {
  if (!x.has_tangent()) return Layout(options, transposed).apply(x.value, weight, bias);
  const Tensor shift = bias.defined() ? bias : at::empty({0}, x.value.options());
  const variable_list out =
      PairConvolution::apply(x.value, x.tangent, weight, shift, options, transposed);
  return {out[0], out[1]};
}

/// Images side by side in their channels, value and tangent in one storage.
class PairOfChannels : public torch::autograd::Function<PairOfChannels> {
 public:
  static variable_list forward(AutogradContext* context, const Tensor& x, const Tensor& xdot,
                               const Tensor& y, const Tensor& ydot) {
    context->saved_data["first"] = x.size(1);
    std::vector<int64_t> sizes = x.sizes().vec();
    sizes[1] += y.size(1);
    auto [value, tangent] = empty_pair(sizes, x.options(), x.suggest_memory_format());
    at::cat_out(value, {x, y}, 1);
    at::cat_out(tangent, {xdot, ydot}, 1);
    return {value, tangent};
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const int64_t first = context->saved_data["first"].toInt();
    const auto part = [&](const Tensor& all, bool second) {
      return second ? all.narrow(1, first, all.size(1) - first) : all.narrow(1, 0, first);
    };
    return {part(gradients[0], false), part(gradients[1], false), part(gradients[0], true),
            part(gradients[1], true)};
  }
};

}  // namespace

Dual group_norm(const Dual& x, int64_t groups, const Tensor& weight, const Tensor& bias,
                double eps) {
  check(x.value.dim() >= 2 && x.value.size(1) == weight.size(0), "group_norm takes [n, ",
        weight.size(0), ", ...], got ", x.value.sizes());
  if (!x.has_tangent()) return at::group_norm(x.value, groups, weight, bias, eps);
  const auto rows = [&](const Tensor& a) { return a.reshape({a.size(0), groups, -1}); };
  const auto scaled = [&](const Tensor& a) {
    return a.reshape({a.size(0), weight.size(0), -1}) * weight.unsqueeze(1);
  };
  const auto mean = [](const Tensor& a) { return a.mean({-1}, true); };
  const Tensor centred = rows(x.value) - mean(rows(x.value));
  const Tensor scale = (mean(centred * centred) + eps).rsqrt();
  const Tensor unit = centred * scale;
  const Tensor moved = rows(x.tangent) - mean(rows(x.tangent));
  const Tensor unit_dot = scale * (moved - unit * mean(unit * moved));
  const auto sizes = x.value.sizes();
  return {(scaled(unit) + bias.unsqueeze(1)).reshape(sizes), scaled(unit_dot).reshape(sizes)};
}

Dual conv2d(const Dual& x, const Tensor& weight, const Tensor& bias, const Convolution& options) {
  return convolution(x, weight, bias, options, /*transposed=*/false);
}

Dual conv_transpose2d(const Dual& x, const Tensor& weight, const Tensor& bias,
                      const Convolution& options) {
  return convolution(x, weight, bias, options, /*transposed=*/true);
}

Dual cat_channels(const Dual& x, const Dual& y) {
  if (!x.has_tangent() || !y.has_tangent()) return cat({x, y}, 1);
  const variable_list out = PairOfChannels::apply(x.value, x.tangent, y.value, y.tangent);
  return {out[0], out[1]};
}

Dual image_products(const Dual& x, const Tensor& weight) {
  const auto product = [&](const Tensor& images) {
    const bool half = images.scalar_type() == torch::kBFloat16;
    return at::einsum("nchw,mchw->hwnm", {images, weight})
        .sum(torch::IntArrayRef({0, 1}), false, half ? torch::kFloat32 : images.scalar_type());
  };
  if (!x.has_tangent()) return product(x.value);
  return {product(x.value), product(x.tangent)};
}

}  // namespace dre
