/// What an energy model starts from: the Gaussian of its training images.
#pragma once

#include "dre/energy/model.h"

namespace dre {

/// The Gaussian noise model of images: statistics of training images with `draws` draws of the
/// dequantisation noise each.
DensityPtr gaussian_noise(const Tensor& pixels, int64_t draws, const Context& context);

/// The frame that the model's bridge needs: the Gaussian of the training images where it runs
/// between images, null where it does not.
DensityPtr energy_frame(const EnergyOptions& options, const Tensor& pixels, const Context& context);

}  // namespace dre
