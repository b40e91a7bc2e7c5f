/// Small densities of every kind in float64, with parameters away from their start.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "dre/density/gaussian_density.h"

namespace dre::testing {

struct Example {
  std::string name;
  std::function<DensityPtr()> make;
};

inline Context double_context() { return {torch::kCPU, torch::kFloat64, 11}; }

inline DensityPtr gaussian_example(int64_t d) {
  auto generator = double_context().generator("gaussian");
  const Tensor root = normal({d, d}, torch::kFloat64, generator);
  const Tensor covariance = root.matmul(root.t()) + 0.3 * torch::eye(d, torch::kFloat64);
  return std::make_shared<GaussianDensity>(normal({d}, torch::kFloat64, generator), covariance,
                                           double_context());
}

inline std::vector<Example> examples() {
  return {{"Gaussian1", [] { return gaussian_example(1); }},
          {"Gaussian2", [] { return gaussian_example(2); }},
          {"Gaussian7", [] { return gaussian_example(7); }}};
}

}  // namespace dre::testing
