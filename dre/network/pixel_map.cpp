#include "dre/network/pixel_map.h"

#include "dre/base/error.h"
#include "dre/dual/linear.h"

namespace dre {

PixelMap linear_pixel_map(const Tensor& to_pixels, const Tensor& offset) {
  check(to_pixels.dim() == 2 && to_pixels.size(0) == to_pixels.size(1) &&
            offset.sizes() == torch::IntArrayRef({to_pixels.size(0)}),
        "a linear pixel map needs [d, d] and [d], got ", to_pixels.sizes(), " and ",
        offset.sizes());
  const Tensor inverse = at::linalg_inv(to_pixels.to(torch::kFloat64)).to(to_pixels.scalar_type());
  return {[=](const Dual& z) { return linear(z, to_pixels, offset); },
          [inverse](const Dual&, const Dual& change) { return linear(change, inverse, {}); }};
}

}  // namespace dre
