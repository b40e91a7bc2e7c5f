/// The methods that the accuracy benchmark compares.
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

/// The methods with all options at their defaults.
std::vector<Named<Method>> method_table();

/// The method called `name`, or `name:option=value:...` with options as `dre fit` has them:
/// `auto:reference=none`, `time:matching=boundary:batch=256`.
Method method_by_name(const std::string& name);

/// Log ratio of two Gaussians with the samples' moments; `pooled` gives both the mean of the two
/// covariances.
Tensor gaussian_plug_in(const Tensor& numerator, const Tensor& denominator, const Tensor& test,
                        bool pooled);

}  // namespace dre::benchmarks
