/// Small densities of every kind in float64, with parameters away from their start.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "dre/density/flow.h"
#include "dre/density/gaussian_density.h"

namespace dre::testing {

struct Example {
  std::string name;
  std::function<DensityPtr()> make;
};

inline Context example_context() { return {torch::kCPU, torch::kFloat64, 11}; }

inline DensityPtr gaussian_example(int64_t d) {
  auto generator = example_context().generator("gaussian");
  const Tensor root = normal({d, d}, torch::kFloat64, generator);
  const Tensor covariance = root.matmul(root.t()) + 0.3 * torch::eye(d, torch::kFloat64);
  return std::make_shared<GaussianDensity>(normal({d}, torch::kFloat64, generator), covariance,
                                           example_context());
}

/// Moves all parameters at random, so that no layer is the identity it starts as.
inline void shake(Flow& flow, double size) {
  const torch::NoGradGuard no_grad;
  auto generator = example_context().generator("shake");
  Tensor weights = flow.parameters().flat();
  weights += size * normal(weights.sizes(), weights.options(), generator);
}

inline DensityPtr copula_example(int64_t d) {
  FlowOptions options;
  options.dimension = d;
  options.copula_bins = 16;
  auto flow = std::make_shared<Flow>("copula", options, example_context());
  auto generator = example_context().generator("rows");
  flow->initialise(1 + 2 * normal({500, d}, torch::kFloat64, generator));
  shake(*flow, 0.2);
  return flow;
}

inline DensityPtr spline_flow_example(int64_t height, int64_t width, int64_t levels) {
  FlowOptions options;
  options.dimension = height * width;
  options.height = height;
  options.levels = levels;
  options.steps = 2;
  options.channels = 6;
  options.bins = 4;
  auto flow = std::make_shared<Flow>("rq-nsf", options, example_context());
  auto generator = example_context().generator("rows");
  flow->initialise(1 + 2 * normal({100, height * width}, torch::kFloat64, generator));
  shake(*flow, 0.1);
  return flow;
}

inline std::vector<Example> examples() {
  return {{"Gaussian1", [] { return gaussian_example(1); }},
          {"Gaussian2", [] { return gaussian_example(2); }},
          {"Gaussian7", [] { return gaussian_example(7); }},
          {"Copula1", [] { return copula_example(1); }},
          {"Copula2", [] { return copula_example(2); }},
          {"Copula5", [] { return copula_example(5); }},
          {"SplineFlow4", [] { return spline_flow_example(2, 2, 1); }},
          {"SplineFlow32", [] { return spline_flow_example(8, 4, 2); }}};
}

}  // namespace dre::testing
