/// Activations for duals: y = phi(x) and phi'(x) xdot in one pass over memory, and their backward
///
///     gx = gy phi'(x) + gydot phi''(x) xdot,    gxdot = gydot phi'(x)
///
/// in another. Differentiable once (asking for a second derivative is an error: that is what the
/// tangent is for). On the CPU in float32 and float64 these are fused vector loops with their own
/// exponential, since LibTorch's is scalar on some machines; elsewhere tensor operations.
/// For a plain tensor write `elu(Dual(x))`: `elu(x)` would be LibTorch's own.
#pragma once

#include "dre/dual/dual.h"

namespace dre {

Dual elu(const Dual& x);       ///< x for x > 0, else exp(x) - 1
Dual tanh(const Dual& x);      ///< tangens hyperbolicus
Dual silu(const Dual& x);      ///< x / (1 + exp(-x))
Dual softplus(const Dual& x);  ///< log(1 + exp(x))

}  // namespace dre
