/// The dense rule: y = x weight' + bias with tangent xdot weight', value and tangent in one matrix
/// product, forward and backward. Differentiable once.
#pragma once

#include "dre/dual/dual.h"

namespace dre {

/// x: [n, in], weight: [out, in], bias: [out] or undefined -> [n, out]
Dual linear(const Dual& x, const Tensor& weight, const Tensor& bias);

}  // namespace dre
