#include "dre/base/context.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Context.h>
#include <ATen/detail/CUDAHooksInterface.h>

#include <limits>

#include "dre/base/error.h"

namespace dre {
namespace {

/// FNV-1a over the name, started from the seed, then the splitmix64 finaliser so that near seeds
/// give unrelated streams.
uint64_t stream_seed(uint64_t seed, const std::string& name) {
  uint64_t hash = 14695981039346656037ULL ^ (seed * 0x9E3779B97F4A7C15ULL);
  for (const unsigned char letter : name) hash = (hash ^ letter) * 1099511628211ULL;
  hash = (hash ^ (hash >> 30)) * 0xBF58476D1CE4E5B9ULL;
  hash = (hash ^ (hash >> 27)) * 0x94D049BB133111EBULL;
  return hash ^ (hash >> 31);
}

}  // namespace

at::Generator Context::generator(const std::string& name) const {
  return at::detail::createCPUGenerator(stream_seed(seed, name));
}

at::Generator Context::device_generator(const std::string& name) const {
  if (device.is_cpu()) return generator(name);
  at::Generator generator = at::globalContext().defaultGenerator(device).clone();
  generator.set_current_seed(stream_seed(seed, name));
  return generator;
}

Context Context::child(const std::string& name) const {
  return {device, dtype, stream_seed(seed, name)};
}

int64_t later_seed(int64_t seed, int64_t by) {
  const uint64_t sum = static_cast<uint64_t>(seed) + static_cast<uint64_t>(by);
  return static_cast<int64_t>(sum & std::numeric_limits<int64_t>::max());
}

torch::Device device_by_name(const std::string& name) {
  if (name == "cpu") return torch::kCPU;
  const bool has_cuda =
      at::globalContext().hasCUDA() && at::detail::getCUDAHooks().getNumGPUs() > 0;
  if (name == "auto") return has_cuda ? torch::Device(torch::kCUDA, 0) : torch::Device(torch::kCPU);
  check(name == "cuda", "unknown device '", name, "'; known are auto, cpu, cuda");
  check(has_cuda,
        "device 'cuda' was asked for, but this machine or this build of LibTorch has none; use "
        "--device cpu");
  return torch::Device(torch::kCUDA, 0);
}

void restore_generator(at::Generator& generator, const Tensor& state) {
  check_data(state.sizes() == generator.get_state().sizes(),
             "the checkpoint is of a fit on another kind of device; go on there, or start anew");
  generator.set_state(state);
}

Tensor normal(torch::IntArrayRef shape, const torch::TensorOptions& options,
              at::Generator& generator) {
  return at::randn(shape, generator, options);
}

Tensor uniform(torch::IntArrayRef shape, const torch::TensorOptions& options,
               at::Generator& generator) {
  return at::rand(shape, generator, options);
}

}  // namespace dre
