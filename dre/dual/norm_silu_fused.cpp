#include "dre/dual/norm_silu_fused.h"

#include "dre/base/error.h"

#ifdef DRE_WITH_CUDA

#include <c10/cuda/CUDAStream.h>
#include <torch/csrc/autograd/custom_function.h>

#include "dre/dual/norm_silu_kernels.h"
#include "dre/dual/once.h"
#include "dre/dual/stacked.h"

namespace dre {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr auto channels_last = at::MemoryFormat::ChannelsLast;

kernels::Element element_of(const Tensor& x) {
  return x.scalar_type() == torch::kBFloat16 ? kernels::Element::bfloat16
                                             : kernels::Element::float32;
}

kernels::NormShape shape_of(const Tensor& x, int64_t groups, double eps) {
  return {static_cast<int>(x.size(0)), static_cast<int>(x.size(2) * x.size(3)),
          static_cast<int>(x.size(1)), static_cast<int>(groups), static_cast<float>(eps)};
}

const void* bytes(const Tensor& a) { return a.numel() > 0 ? a.data_ptr() : nullptr; }
const float* floats(const Tensor& a) { return a.numel() > 0 ? a.data_ptr<float>() : nullptr; }
Tensor packed(const Tensor& a) { return a.numel() > 0 ? a.contiguous(channels_last) : a; }
Tensor rows(const Tensor& a) { return a.numel() > 0 ? a.to(torch::kFloat32).contiguous() : a; }

/// Of value and tangent in one storage, or of the value and an empty tensor.
Dual results_like(const Tensor& x, bool tangent) {
  if (tangent) return empty_pair(x.sizes(), x.options(), channels_last);
  return {at::empty_like(x), x.new_empty({0})};
}

/// Absent tensors are empty ones, since autograd functions take defined ones only.
class NormSiluFunction : public torch::autograd::Function<NormSiluFunction> {
 public:
  static variable_list forward(AutogradContext* context, const Tensor& x_, const Tensor& xdot_,
                               const Tensor& shift_, const Tensor& shift_dot_, const Tensor& weight,
                               const Tensor& bias, int64_t groups, double eps, bool tangent) {
    const Tensor x = packed(x_), xdot = packed(xdot_), shift = rows(shift_),
                 shift_dot = rows(shift_dot_);
    const auto [y, ydot] = results_like(x, tangent);
    const Tensor stats = at::empty({x.size(0), groups, 4}, weight.options());
    kernels::norm_silu_forward(element_of(x), shape_of(x, groups, eps), {bytes(x), bytes(xdot)},
                               {floats(shift), floats(shift_dot)}, floats(weight), floats(bias),
                               {y.data_ptr(), tangent ? ydot.data_ptr() : nullptr},
                               stats.data_ptr<float>(), c10::cuda::getCurrentCUDAStream().stream());
    context->save_for_backward({x, xdot, shift, shift_dot, weight, bias, stats});
    context->saved_data["groups"] = groups;
    context->saved_data["eps"] = eps;
    context->saved_data["tangent"] = tangent;
    return {y, ydot};
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    check_first_derivative("norm_silu");
    const variable_list saved = context->get_saved_variables();
    const Tensor &x = saved[0], &xdot = saved[1], &shift = saved[2], &shift_dot = saved[3],
                 &weight = saved[4];
    const bool tangent = context->saved_data["tangent"].toBool();
    const Tensor g = gradients[0].contiguous(channels_last);
    const Tensor h = tangent ? gradients[1].contiguous(channels_last) : Tensor();
    const auto [gx, gxdot] = results_like(x, xdot.numel() > 0);
    const auto per_channel = [&] { return at::empty({x.size(0), x.size(1)}, weight.options()); };
    const Tensor g_shift = per_channel(), g_shift_dot = tangent ? per_channel() : Tensor(),
                 g_weight = per_channel(), g_bias = per_channel();
    kernels::norm_silu_backward(
        element_of(x),
        shape_of(x, context->saved_data["groups"].toInt(), context->saved_data["eps"].toDouble()),
        {bytes(x), bytes(xdot)}, {floats(shift), floats(shift_dot)}, floats(weight),
        floats(saved[5]), floats(saved[6]), {g.data_ptr(), tangent ? h.data_ptr() : nullptr},
        {gx.data_ptr(), xdot.numel() > 0 ? gxdot.data_ptr() : nullptr},
        {g_shift.data_ptr<float>(), tangent ? g_shift_dot.data_ptr<float>() : nullptr,
         g_weight.data_ptr<float>(), g_bias.data_ptr<float>()},
        c10::cuda::getCurrentCUDAStream().stream());
    const auto where = [](const Tensor& input, const Tensor& gradient) {
      return input.numel() > 0 ? gradient : Tensor();
    };
    return {gx,
            where(xdot, gxdot),
            where(shift, g_shift),
            where(shift_dot, g_shift_dot),
            g_weight.sum(0),
            g_bias.sum(0),
            {},
            {},
            {}};
  }
};

}  // namespace

bool can_fuse(const Dual& x, const GroupNorm& norm) {
  const auto type = x.value.scalar_type();
  return x.value.is_cuda() && (type == torch::kFloat32 || type == torch::kBFloat16) &&
         norm.weight.scalar_type() == torch::kFloat32 && x.value.size(1) % 4 == 0 &&
         x.value.size(1) <= 2048;
}

Dual norm_silu_fused(const Dual& x, const Dual& shift, const GroupNorm& norm) {
  const Tensor none = at::empty({0}, x.value.options());
  const auto given = [&](const Tensor& a) { return a.defined() ? a : none; };
  const bool tangent = x.has_tangent() || shift.has_tangent();
  const variable_list out =
      NormSiluFunction::apply(x.value, given(x.tangent), given(shift.value), given(shift.tangent),
                              norm.weight, norm.bias, norm.groups, norm.eps, tangent);
  return {out[0], tangent ? out[1] : Tensor()};
}

}  // namespace dre

#else

namespace dre {

bool can_fuse(const Dual&, const GroupNorm&) { return false; }

Dual norm_silu_fused(const Dual&, const Dual&, const GroupNorm&) {
  fail(Error::Kind::internal, "this build has no CUDA kernels");
}

}  // namespace dre

#endif
