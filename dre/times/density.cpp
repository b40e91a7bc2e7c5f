#include "dre/times/density.h"

#include "dre/base/error.h"

namespace dre {

TabulatedDensity::TabulatedDensity(const Tensor& heights, double low, double high)
    : low_(low), high_(high) {
  check(heights.defined() && heights.dim() == 1 && heights.size(0) >= 2,
        "a tabulated density needs heights at two or more nodes");
  check(low < high, "a density needs an interval, got ", low, " to ", high);
  const Tensor given = heights.detach().to(torch::kCPU, torch::kFloat64);
  const bool usable = given.isfinite().all().item<bool>() && given.min().item<double>() > 0;
  check(usable, "a tabulated density must be finite and positive at every node: where it is zero ",
        "no time would be drawn and the weights would be biased");
  const int64_t cells = given.size(0) - 1;
  step_ = (high - low) / static_cast<double>(cells);
  const Tensor areas = step_ * (given.narrow(0, 0, cells) + given.narrow(0, 1, cells)) / 2;
  heights_ = given / areas.sum();
  const Tensor sums = (areas / areas.sum()).cumsum(0);
  cumulative_ = torch::cat({torch::zeros({1}, sums.options()), sums / sums[-1]});
}

Tensor TabulatedDensity::operator()(const Tensor& t) const {
  const Tensor place = (t.to(torch::kCPU, torch::kFloat64) - low_) / step_;
  const Tensor cell = place.floor().clamp(0, heights_.size(0) - 2).to(torch::kInt64);
  const Tensor left = heights_.index_select(0, cell), right = heights_.index_select(0, cell + 1);
  return left + (right - left) * (place - cell);
}

Tensor TabulatedDensity::inverse_cdf(const Tensor& u) const {
  const Tensor cell = (torch::searchsorted(cumulative_, u, false, true) - 1)
                          .clamp(0, heights_.size(0) - 2)
                          .to(torch::kInt64);
  const Tensor left = heights_.index_select(0, cell), right = heights_.index_select(0, cell + 1);
  const Tensor area = u - cumulative_.index_select(0, cell);
  // left s + (right - left) s^2 / (2 step) = area, in the form that does not cancel.
  const Tensor root = (left.square() + 2 * (right - left) / step_ * area).clamp_min(0).sqrt();
  const Tensor within = (2 * area / (left + root)).clamp(0, step_);
  return (low_ + step_ * cell + within).clamp(low_, high_);
}

}  // namespace dre
