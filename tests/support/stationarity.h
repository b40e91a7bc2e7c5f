/// Whether an objective is stationary at a model: the mean gradient over many batches of Gaussian
/// data, in standard errors.
#pragma once

#include <cmath>

#include "tests/support/gaussian_pair.h"

namespace dre::testing {

/// Largest |z| of the mean gradient along a few random directions: how many standard errors it is
/// away from zero.
inline double gradient_z(const Objective& objective, Parameters& parameters,
                         const GaussianEnds& truth) {
  // Few large batches: the networks are so small that a batch costs about the same at any size.
  const int64_t batches = 24, rows = 1600, directions = 5;
  const Context context = double_context(11);
  auto generator = context.generator("batches");
  parameters.flatten();
  const Tensor probes = normal({parameters.count(), directions}, context.options(), generator);
  std::vector<Tensor> projected;
  for (int64_t i = 0; i < batches; ++i) {
    const Batch batch = draw_batch(truth, rows, generator);
    const auto [from, to] = objective.interval();
    const Tensor cell = torch::arange(rows, context.options()).unsqueeze(1);
    const Tensor unit =
        (cell + uniform({rows, 1}, context.options(), generator)) / static_cast<double>(rows);
    parameters.zero_gradient();
    row_losses(objective.terms(batch, from + (to - from) * unit, generator)).mean().backward();
    projected.push_back(parameters.flat_gradient().matmul(probes));
  }
  const Tensor all = torch::stack(projected);
  const Tensor standard_error = all.std(0, true) / std::sqrt(static_cast<double>(batches));
  return (all.mean(0) / standard_error).abs().max().item<double>();
}

}  // namespace dre::testing
