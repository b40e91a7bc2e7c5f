#include "dre/density/density.h"

#include <cmath>

#include "dre/base/error.h"

namespace dre {

Tensor Density::log_prob(const Tensor& x) const {
  const Moved moved = to_latent(x);
  return standard_normal_log_prob(moved.point) + moved.log_determinant;
}

Tensor Density::sample(int64_t n, at::Generator& generator) const {
  const torch::NoGradGuard no_grad;
  check(n >= 1, "cannot draw ", n, " samples");
  return from_latent(normal({n, dimension()}, options(), generator)).point;
}

Tensor standard_normal_log_prob(const Tensor& z) {
  check(z.dim() == 2, "points must be [n, d], got ", z.sizes());
  return z.square().sum(1).mul(-0.5).sub(0.5 * std::log(2 * M_PI) * static_cast<double>(z.size(1)));
}

void check_rows(const Tensor& x, int64_t dimension) {
  check(x.dim() == 2 && x.size(1) == dimension, "points of this density are [n, ", dimension,
        "], got ", x.sizes());
}

}  // namespace dre
