/// norm_silu by the CUDA kernels, where this build has them.
#pragma once

#include "dre/dual/norm_silu.h"

namespace dre {

/// Whether the kernels take these images: CUDA, float32 or bfloat16, channels a multiple of 4.
bool can_fuse(const Dual& x, const GroupNorm& norm);

/// As norm_silu, for what can_fuse() allows.
Dual norm_silu_fused(const Dual& x, const Dual& shift, const GroupNorm& norm);

}  // namespace dre
