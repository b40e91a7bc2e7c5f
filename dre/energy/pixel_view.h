/// What the latent points of a noise model look like, for networks that work in the latent space.
#pragma once

#include "dre/density/density.h"
#include "dre/network/pixel_map.h"

namespace dre {

/// Of a noise model whose latent space is a linear image of its pixel space, scaled to unit size.
PixelMap linear_pixels(const Density& noise);

/// Of any other, whose from_latent() must be differentiable twice. A latent point is seen as s(z) =
/// asinh of a quarter of the logits of its pixels, which grows slowly where a noise model that is
/// asked far from its data answers with large ones. Predictions are taken as slopes over s, which
/// become slopes over z by the transposed Jacobian: that needs no inverse, and a velocity is, up to
/// a factor, the slope of a log-ratio. Gradients are followed where there are no tangents.
PixelMap curved_pixels(const DensityPtr& noise);

}  // namespace dre
