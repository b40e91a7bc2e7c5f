/// A spline of its own for every place: the couplings' form, done in one pass over memory, on
/// host and device: forward and backward, and the inverse.
#pragma once

#include "dre/density/spline.h"

namespace dre {

/// x: [groups, places], numbers: [groups, 3 bins - 1, places], widths, heights and slopes one after
/// the other, bins at most 32 -> both [groups, places]. Differentiable once.
SplineValue spline_places(const Tensor& x, const Tensor& numbers, double bound);

/// The points whose values are y, and the inverse's log-derivatives; not differentiable.
SplineValue spline_places_inverse(const Tensor& y, const Tensor& numbers, double bound);

}  // namespace dre
