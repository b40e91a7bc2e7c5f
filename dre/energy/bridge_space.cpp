#include "dre/energy/bridge_space.h"

#include <utility>

#include "dre/base/error.h"

namespace dre {

BridgeSpace::BridgeSpace(DensityPtr noise, DensityPtr frame)
    : noise_(std::move(noise)), frame_(frame ? std::move(frame) : noise_) {
  check(noise_ != nullptr, "an energy model needs a noise model");
}

Tensor BridgeSpace::of_latent(const Tensor& z) const {
  return between_images() ? enter(noise_->from_latent(z).point).point : z;
}

Tensor BridgeSpace::noise_log_prob(const Tensor& y) const {
  if (!between_images()) return standard_normal_log_prob(y);
  const Moved x = leave(y);
  return noise_->log_prob(x.point) + x.log_determinant;
}

Tensor BridgeSpace::draw_noise(int64_t n, at::Generator& generator) const {
  return of_latent(normal({n, noise_->dimension()}, noise_->options(), generator));
}

}  // namespace dre
