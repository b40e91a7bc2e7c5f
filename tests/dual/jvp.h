/// The oracle of the dual tests: directional derivatives by double backward.
#pragma once

#include <torch/csrc/autograd/autograd.h>
#include <torch/types.h>

#include <functional>
#include <vector>

#include "dre/dual/dual.h"

namespace dre::testing {

using Tensors = std::vector<Tensor>;

/// J v of y = f(x), as the gradient of u -> u' J with respect to u in direction v. The result can
/// be differentiated again.
inline Tensor jvp(const Tensor& y, const Tensors& x, const Tensors& v) {
  using torch::autograd::grad;
  const Tensor u = torch::zeros_like(y).requires_grad_();
  const Tensors pulled = grad({y}, x, {u}, true, true, true);
  Tensors outputs, directions;
  for (size_t i = 0; i < pulled.size(); ++i) {
    if (!pulled[i].defined() || !pulled[i].requires_grad()) continue;
    outputs.push_back(pulled[i]);
    directions.push_back(v[i]);
  }
  if (outputs.empty()) return torch::zeros_like(y);
  const Tensor out = grad(outputs, {u}, directions, true, true, true)[0];
  return out.defined() ? out : torch::zeros_like(y);
}

/// A fixed smooth function of value and tangent whose gradients touch every entry differently.
inline Tensor random_scalar(const Dual& y) {
  const auto weights = [&](const Tensor& a, double phase) {
    return torch::cos(torch::arange(a.numel(), a.options()) * 0.7 + phase).view_as(a);
  };
  Tensor out = (y.value * weights(y.value, 0.1)).sum() + (y.value * y.value).sum() * 0.3;
  if (!y.has_tangent()) return out;
  return out + (y.tangent * weights(y.tangent, 1.3)).sum() + (y.tangent * y.value).sum() * 0.2 +
         (y.tangent * y.tangent).sum() * 0.1;
}

/// Gradients, with zeros where nothing depends on an input.
inline Tensors gradients(const Tensor& scalar, const Tensors& inputs) {
  Tensors out = torch::autograd::grad({scalar}, inputs, {}, true, false, true);
  for (size_t i = 0; i < out.size(); ++i)
    if (!out[i].defined()) out[i] = torch::zeros_like(inputs[i]);
  return out;
}

/// Largest difference, relative to the larger of 1 and the largest entry.
inline double difference(const Tensor& a, const Tensor& b) {
  if (a.numel() == 0) return 0;
  const double scale = std::max(1.0, b.abs().max().item<double>());
  return (a - b).abs().max().item<double>() / scale;
}

}  // namespace dre::testing
