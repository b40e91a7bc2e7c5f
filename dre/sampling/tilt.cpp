#include "dre/sampling/tilt.h"

#include <torch/csrc/autograd/autograd.h>

#include "dre/base/error.h"

namespace dre {

LogRatioFunction differentiated(std::function<Tensor(const Tensor& z)> log_ratio) {
  return [log_ratio = std::move(log_ratio)](const Tensor& z) -> Slope {
    const torch::AutoGradMode with_gradient(true);
    const Tensor leaf = z.detach().requires_grad_();
    const Tensor value = log_ratio(leaf);
    return {value.detach(), torch::autograd::grad({value.sum()}, {leaf})[0].detach()};
  };
}

std::optional<double> growth_of_powers(double from, double to) {
  if (from == 0 || to == 0) return {};
  return to / from;
}

Tensor PowerTilt::value(const Tensor& z, double beta) {
  return beta == 0 ? at::zeros({z.size(0)}, z.options()) : beta * at(z).value;
}

Tensor PowerTilt::force(const Tensor& z, double beta) {
  return beta == 0 ? at::zeros_like(z) : beta * at(z).gradient;
}

const Slope& PowerTilt::at(const Tensor& z) {
  if (last_.defined() && z.is_same(last_)) return slope_;
  const Slope found = log_ratio_(z);
  check(
      found.value.sizes() == torch::IntArrayRef({z.size(0)}) && found.gradient.sizes() == z.sizes(),
      "log r must give values [", z.size(0), "] and gradients ", z.sizes(), ", got ",
      found.value.sizes(), " and ", found.gradient.sizes());
  slope_ = found;
  last_ = z;
  return slope_;
}

}  // namespace dre
