/// Pixel space, as networks see it whose points are of a latent space.
#pragma once

#include <functional>

#include "dre/dual/dual.h"

namespace dre {

/// Empty: latent points are taken as they are.
struct PixelMap {
  std::function<Dual(const Dual& z)> view = {};  ///< [n, d] -> pixels [n, d], of about unit size
  /// What a network predicts for the pixels at z, [n, d], as a prediction for z.
  std::function<Dual(const Dual& z, const Dual& prediction)> back = {};

  explicit operator bool() const { return static_cast<bool>(view); }
};

/// pixels = z to_pixels' + offset, on the device and in the precision of the points; predictions
/// come back by the inverse, as changes do.
PixelMap linear_pixel_map(const Tensor& to_pixels, const Tensor& offset);

}  // namespace dre
