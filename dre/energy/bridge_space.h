/// Where the bridge of an energy model runs. Either in the latent space of the noise model, where
/// its points are N(0, I); or between images, those of the noise model and those of the data, both
/// in the latent space of a frame: logits whitened by a Gaussian. The second is for noise models so
/// good that their latent points tell a network nothing about images.
#pragma once

#include "dre/density/density.h"

namespace dre {

class BridgeSpace final {
 public:
  /// frame: null for the latent space of the noise model.
  explicit BridgeSpace(DensityPtr noise, DensityPtr frame = nullptr);

  /// Logits to points of the space and back. x, y: [n, d]
  Moved enter(const Tensor& x) const { return frame_->to_latent(x); }
  Moved leave(const Tensor& y) const { return frame_->from_latent(y); }

  /// Latent points of the noise model as points of the space, differentiable. z: [n, d] -> [n, d]
  Tensor of_latent(const Tensor& z) const;

  /// The noise model's density in the space. y: [n, d] -> [n]
  Tensor noise_log_prob(const Tensor& y) const;

  /// Draws from the noise model, [n, d].
  Tensor draw_noise(int64_t n, at::Generator& generator) const;

  /// Whether the bridge runs between images.
  bool between_images() const { return frame_ != noise_; }
  const Density& frame() const { return *frame_; }

 private:
  DensityPtr noise_, frame_;
};

}  // namespace dre
