/// Layers for duals: each rule is a pure function of input and parameters that gives the layer's
/// output and its tangent, differentiable by one ordinary backward with respect to both and to the
/// parameters. Parameters are constants of the tangent direction.
#pragma once

#include "dre/dual/activation.h"
#include "dre/dual/dual.h"
#include "dre/dual/linear.h"

namespace dre {

/// x: [n, channels, ...], weight and bias: [channels]; mean 0 and variance 1 over each of `groups`
/// groups of channels of a row, then scaled and shifted.
Dual group_norm(const Dual& x, int64_t groups, const Tensor& weight, const Tensor& bias,
                double eps = 1e-5);

struct Convolution {
  int64_t stride = 1;
  int64_t padding = 0;
  int64_t output_padding = 0;  ///< of transposed convolutions only
};

/// x: [n, in, h, w], weight: [out, in, kh, kw], bias: [out] or undefined -> [n, out, ...]
Dual conv2d(const Dual& x, const Tensor& weight, const Tensor& bias, const Convolution& options);

/// x: [n, in, h, w], weight: [in, out, kh, kw], bias: [out] or undefined -> [n, out, ...]
Dual conv_transpose2d(const Dual& x, const Tensor& weight, const Tensor& bias,
                      const Convolution& options);

/// [n, a, h, w], [n, b, h, w] -> [n, a + b, h, w]
Dual cat_channels(const Dual& x, const Dual& y);

/// Inner products with fixed images; of bfloat16 the products of each pixel are rounded to it, and
/// their sum is in float32.
/// x: [n, c, h, w], weight: [m, c, h, w] -> [n, m]
Dual image_products(const Dual& x, const Tensor& weight);

}  // namespace dre
