/// The methods that the accuracy benchmark compares: one row a method.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "dre/base/names.h"

namespace dre::benchmarks {

using torch::Tensor;

/// Fits on numerator: [n, d] and denominator: [m, d], and estimates log r on test: [k, d] -> [k].
/// Rows come in float64; equal arguments give equal results.
using Method = std::function<Tensor(const Tensor& numerator, const Tensor& denominator,
                                    const Tensor& test, uint64_t seed)>;

std::vector<Named<Method>> method_table();

/// Log ratio of two Gaussians with the samples' moments; `pooled` gives both the mean of the two
/// covariances.
Tensor gaussian_plug_in(const Tensor& numerator, const Tensor& denominator, const Tensor& test,
                        bool pooled);

}  // namespace dre::benchmarks
