/// Activations for duals: y = phi(x) and phi'(x) xdot in one pass over memory, and their backward
///
///     gx = gy phi'(x) + gydot phi''(x) xdot,    gxdot = gydot phi'(x)
///
/// in another. Differentiable once (asking for a second derivative is an error: that is what the
/// tangent is for). On the CPU in float32 and float64 these are fused vector loops with their own
/// exponential, since LibTorch's is scalar on some machines; elsewhere tensor operations.
/// For a plain tensor write `elu(Dual(x))`: `elu(x)` would be LibTorch's own.
#pragma once

#include <string>
#include <vector>

#include "dre/dual/dual.h"

namespace dre {

Dual elu(const Dual& x);       ///< x for x > 0, else exp(x) - 1
Dual tanh(const Dual& x);      ///< tangens hyperbolicus
Dual silu(const Dual& x);      ///< x / (1 + exp(-x))
Dual softplus(const Dual& x);  ///< log(1 + exp(x))

/// x for x > 0, else 0.3 x. Its second derivative is zero: not for score networks.
Dual leaky_relu(const Dual& x);

/// What a layer makes of one row of its products z and its bias: y = phi(z + bias), and where
/// `slope` is not null phi' there, for the backward pass. `n` numbers each.
template <class T>
using ValueRow = void (*)(const T* z, const T* bias, T* y, T* slope, int64_t n);

/// The same with a tangent: ydot = phi' zdot; `bend` gets phi'' zdot.
template <class T>
using PairRow = void (*)(const T* z, const T* zdot, const T* bias, T* y, T* ydot, T* slope, T* bend,
                         int64_t n);

/// An activation in the forms that layers use it in.
struct Activation {
  std::string name;
  Dual (*apply)(const Dual&);
  ValueRow<float> value_row_float;
  ValueRow<double> value_row_double;
  PairRow<float> pair_row_float;
  PairRow<double> pair_row_double;
};

/// elu, silu, tanh, softplus, leaky-relu.
const std::vector<Activation>& activations();

}  // namespace dre
