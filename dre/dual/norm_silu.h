/// Normalise and activate: silu(group_norm(x + shift)), the layer between two convolutions.
///
/// On CUDA in float32 and bfloat16 this is one kernel forward and one backward, value and tangent
/// together; the images are read twice and written once, where the single operations would go over
/// memory a dozen times. Elsewhere it is the composition of the rules of layers.h.
#pragma once

#include "dre/dual/dual.h"

namespace dre {

struct GroupNorm {
  Tensor weight, bias;  ///< [channels], of the precision of the parameters
  int64_t groups = 1;
  double eps = 1e-5;
};

/// x: [n, channels, h, w]; shift: [n, channels], the same for all pixels, or undefined.
Dual norm_silu(const Dual& x, const Dual& shift, const GroupNorm& norm);

}  // namespace dre
