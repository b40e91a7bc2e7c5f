/// Uniform numbers for the samplers, drawn on the host in float64.
#pragma once

#include <torch/types.h>

#include "dre/times/sampler.h"

namespace dre {

/// n independent uniform numbers: [n] in [0, 1)
Tensor independent(int64_t n, at::Generator& generator);

/// One uniform number in each of n equal cells, ascending: [n] in [0, 1)
Tensor stratified(int64_t n, at::Generator& generator);

/// t, weight, boundary_weight: [n] on the host -> as `options` asks. Rounding to a shorter type
/// must not carry a time out of [low, high].
Times as_times(const Tensor& t, const Tensor& weight, const Tensor& boundary_weight, double low,
               double high, const torch::TensorOptions& options);

}  // namespace dre
