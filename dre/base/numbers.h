/// A tensor's numbers outside of LibTorch: for results, JSON and charts.
#pragma once

#include <torch/types.h>

#include <vector>

namespace dre {

/// Row by row, whatever the shape, type and device.
inline std::vector<double> numbers_of(const torch::Tensor& values) {
  const torch::Tensor flat = values.detach().to(torch::kCPU, torch::kFloat64).contiguous();
  return {flat.data_ptr<double>(), flat.data_ptr<double>() + flat.numel()};
}

}  // namespace dre
