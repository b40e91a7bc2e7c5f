#include "dre/dual/norm_silu.h"

#include "dre/base/error.h"
#include "dre/dual/layers.h"
#include "dre/dual/norm_silu_fused.h"

namespace dre {
namespace {

Dual add_shift(const Dual& x, const Dual& shift) {
  if (!shift.defined()) return x;
  const auto image = [](const Tensor& a) {
    return a.defined() ? a.unsqueeze(2).unsqueeze(3) : Tensor();
  };
  return x + Dual(image(shift.value), image(shift.tangent));
}

}  // namespace

Dual norm_silu(const Dual& x, const Dual& shift, const GroupNorm& norm) {
  const int64_t channels = norm.weight.size(0);
  check(x.value.dim() == 4 && x.value.size(1) == channels, "norm_silu takes [n, ", channels,
        ", h, w], got ", x.value.sizes());
  check(!shift.defined() || shift.value.sizes() == torch::IntArrayRef({x.value.size(0), channels}),
        "the shift of norm_silu is [n, ", channels, "], got ",
        shift.defined() ? text(shift.value.sizes()) : "none");
  if (can_fuse(x, norm)) return norm_silu_fused(x, shift, norm);
  return silu(group_norm(add_shift(x, shift), norm.groups, norm.weight, norm.bias, norm.eps));
}

}  // namespace dre
