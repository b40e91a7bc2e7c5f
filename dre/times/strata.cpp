#include "dre/times/strata.h"

#include "dre/base/error.h"

namespace dre {

Tensor independent(int64_t n, at::Generator& generator) {
  check(n >= 1, "at least one time must be drawn, got ", n);
  return uniform({n}, torch::dtype(torch::kFloat64).device(torch::kCPU), generator);
}

Tensor stratified(int64_t n, at::Generator& generator) {
  const Tensor within = independent(n, generator);
  return (torch::arange(n, within.options()) + within) / static_cast<double>(n);
}

Times as_times(const Tensor& t, const Tensor& weight, const Tensor& boundary_weight, double low,
               double high, const torch::TensorOptions& options) {
  return {t.to(options).clamp(low, high).unsqueeze(1), weight.to(options),
          boundary_weight.to(options)};
}

}  // namespace dre
