#include "dre/dual/layers.h"

#include "dre/base/error.h"

namespace dre {
namespace {

/// y = A x + b has tangent A xdot: `map` is called with the bias for the value, without it for the
/// tangent.
template <class Map>
Dual affine(const Dual& x, const Tensor& bias, Map&& map) {
  return {map(x.value, bias), x.has_tangent() ? map(x.tangent, Tensor()) : Tensor()};
}

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
  return affine(x, bias, [&](const Tensor& in, const Tensor& shift) {
    return at::conv2d(in, weight, shift, options.stride, options.padding);
  });
}

Dual conv_transpose2d(const Dual& x, const Tensor& weight, const Tensor& bias,
                      const Convolution& options) {
  return affine(x, bias, [&](const Tensor& in, const Tensor& shift) {
    return at::conv_transpose2d(in, weight, shift, options.stride, options.padding,
                                options.output_padding);
  });
}

}  // namespace dre
