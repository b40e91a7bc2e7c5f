/// Where and how numbers are computed: device, precision, and every random stream by name.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <string>

namespace dre {

using torch::Tensor;

/// Carried by value; holds no state, so two computations with equal contexts give equal results.
struct Context {
  torch::Device device = torch::kCPU;
  torch::ScalarType dtype = torch::kFloat32;
  uint64_t seed = 0;

  torch::TensorOptions options() const { return torch::dtype(dtype).device(device); }

  /// A fresh generator on the host for the random stream `name`; the same seed and name give the
  /// same draws.
  at::Generator generator(const std::string& name) const;

  /// The same on `device`, for draws that are made where the work is done.
  at::Generator device_generator(const std::string& name) const;

  /// A context whose streams are independent of this one's.
  Context child(const std::string& name) const;
};

/// The seed of a part of a computation that has `seed`: `by` further, from the largest on to 0.
int64_t later_seed(int64_t seed, int64_t by);

/// "auto", "cpu" or "cuda"; throws when CUDA is asked for and this build or machine has none.
torch::Device device_by_name(const std::string& name);

/// Continues a random stream where `state` was taken; a data error where that was on another kind
/// of device, whose streams are of another kind.
void restore_generator(at::Generator& generator, const Tensor& state);

/// Standard normal draws of the given shape, on the generator's device.
Tensor normal(torch::IntArrayRef shape, const torch::TensorOptions& options,
              at::Generator& generator);

/// Uniform draws on [0, 1).
Tensor uniform(torch::IntArrayRef shape, const torch::TensorOptions& options,
               at::Generator& generator);

}  // namespace dre
