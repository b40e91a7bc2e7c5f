/// Dense layers with an activation after each but the last, as one rule:
///
///     h_l = phi(W_l h_{l-1} + b_l),   y = W_L h_{L-1} + b_L,
///
/// with the tangent of each, and one backward for all. Blocks of rows run through all layers while
/// they lie in the cache, one thread a block, so no product or activation waits for another thread.
/// The blocks depend on the number of rows alone: the bytes do not depend on the number of threads.
/// Differentiable once.
#pragma once

#include <vector>

#include "dre/dual/activation.h"
#include "dre/dual/dual.h"

namespace dre {

/// x: [n, in]; parameters: W_1, b_1, W_2, b_2, ... with W: [out, in], b: [out] -> [n, out of W_L]
Dual dense_stack(const Dual& x, const std::vector<Tensor>& parameters,
                 const Activation& activation);

}  // namespace dre
