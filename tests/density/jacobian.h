/// The Jacobian of a map by autograd, for the log-determinants of densities and layers.
#pragma once

#include <torch/csrc/autograd/autograd.h>

#include <functional>
#include <vector>

#include "dre/base/context.h"

namespace dre::testing {

/// log |det| of the map's Jacobian at one row. row: [1, ...]
inline double jacobian_log_determinant(const std::function<Tensor(const Tensor&)>& map,
                                       const Tensor& row) {
  const Tensor x = row.detach().clone().requires_grad_();
  const Tensor y = map(x).flatten();
  std::vector<Tensor> gradients;
  for (int64_t i = 0; i < y.size(0); ++i)
    gradients.push_back(torch::autograd::grad({y[i]}, {x}, {}, true)[0].flatten());
  return std::get<1>(at::linalg_slogdet(torch::stack(gradients))).item<double>();
}

}  // namespace dre::testing
