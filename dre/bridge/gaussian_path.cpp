#include "dre/bridge/gaussian_path.h"

#include <cmath>
#include <utility>

#include "dre/base/error.h"

namespace dre {
namespace {

Tensor log_normal(const Tensor& x, const Tensor& mean, const Tensor& variance) {
  const Tensor rho = x - mean;
  return -0.5 * (rho * rho / variance + variance.log() + std::log(2 * M_PI)).sum(1);
}

void check_shapes(const GaussianEnds& ends) {
  for (const Tensor& part : {ends.mean0, ends.variance0, ends.mean1, ends.variance1})
    check(part.dim() == 1 && part.size(0) == ends.mean0.size(0),
          "means and variances of the reference must be [d] each, got ", part.sizes());
}

}  // namespace

GaussianEnds GaussianEnds::to(const torch::TensorOptions& where) const {
  return {mean0.to(where), variance0.to(where), mean1.to(where), variance1.to(where)};
}

Tensor gaussian_log_ratio(const GaussianEnds& ends, const Tensor& x) {
  const Tensor rows = x.to(torch::kFloat64);
  const Tensor scale0 = ends.variance0.rsqrt(), scale1 = ends.variance1.rsqrt();
  const Tensor from0 = (rows - ends.mean0) * scale0, from1 = (rows - ends.mean1) * scale1;
  // from1 - from0, and not two squares, whose difference drowns far away from both.
  const Tensor gap = rows * (scale1 - scale0) + (ends.mean0 * scale0 - ends.mean1 * scale1);
  return (0.5 * gap * (from0 + from1) + (scale0 / scale1).log()).sum(1);
}

GaussianPath::GaussianPath(BridgePtr bridge, GaussianEnds ends)
    : bridge_(std::move(bridge)),
      ends_(ends.to(torch::kFloat64)),
      ends_single_(ends.to(torch::kFloat32)) {
  check_shapes(ends_);
}

GaussianPath::Moments GaussianPath::moments(const Tensor& t) const {
  const Coefficients c = bridge_->at(t);
  const auto& [m0, v0, m1, v1] = t.scalar_type() == torch::kFloat32 ? ends_single_ : ends_;
  // (f^2)' = 2 f f' and (f^2)'' = 2 (f'^2 + f f'').
  const auto square_first = [](const Jet& f) { return 2 * f.value * f.first; };
  const auto square_second = [](const Jet& f) {
    return 2 * (f.first * f.first + f.value * f.second);
  };
  return {{c.a.value * m0 + c.b.value * m1, c.a.first * m0 + c.b.first * m1,
           c.a.second * m0 + c.b.second * m1},
          {c.a.value * c.a.value * v0 + c.b.value * c.b.value * v1 + c.variance.value,
           square_first(c.a) * v0 + square_first(c.b) * v1 + c.variance.first,
           square_second(c.a) * v0 + square_second(c.b) * v1 + c.variance.second}};
}

Tensor GaussianPath::log_density(const Tensor& x, const Tensor& t) const {
  const auto [mean, variance] = moments(t);
  return log_normal(x, mean.value, variance.value);
}

Tensor GaussianPath::log_densities(const Tensor& x, const Tensor& t) const {
  const auto [mean, variance] = moments(t.to(ends_.mean0.options()).unsqueeze(1));
  const Tensor rows = x.to(torch::kFloat64);
  const Tensor precision = 1 / variance.value;  // [K, d]
  // The square (x - m)^2 / V multiplied out, so that two matrix products serve all rows and times.
  const Tensor constant =
      (mean.value * mean.value * precision + variance.value.log() + std::log(2 * M_PI)).sum(1);
  const Tensor linear = rows.matmul((mean.value * precision).t());
  return linear - 0.5 * ((rows * rows).matmul(precision.t()) + constant);
}

Partial GaussianPath::time_score(const Tensor& x, const Tensor& t) const {
  const auto [mean, variance] = moments(t);
  const Tensor scaled = (x - mean.value) / variance.value;  // rho / V
  const Tensor rate = variance.first / variance.value;      // V' / V
  const Tensor curvature = variance.second / variance.value;
  const Tensor value = 0.5 * (scaled * scaled * variance.first - rate) + mean.first * scaled;
  const Tensor scaled_by_time = -mean.first / variance.value - scaled * rate;
  const Tensor by_time = -0.5 * (curvature - rate * rate) + mean.second * scaled +
                         mean.first * scaled_by_time + scaled * scaled_by_time * variance.first +
                         0.5 * scaled * scaled * variance.second;
  return {value, by_time, mean.first / variance.value + scaled * rate};
}

Partial GaussianPath::data_score(const Tensor& x, const Tensor& t) const {
  const auto [mean, variance] = moments(t);
  const Tensor scaled = (x - mean.value) / variance.value;
  return {-scaled, (mean.first + scaled * variance.first) / variance.value,
          (-1 / variance.value).expand_as(x)};
}

Partial GaussianPath::velocity(const Tensor& x, const Tensor& t) const {
  const auto [mean, variance] = moments(t);
  const Tensor rho = x - mean.value;
  const Tensor half_rate = 0.5 * variance.first / variance.value;
  const Tensor half_rate_first = 0.5 * variance.second / variance.value - 2 * half_rate * half_rate;
  return {mean.first + half_rate * rho,
          mean.second + half_rate_first * rho - half_rate * mean.first, half_rate.expand_as(x)};
}

Partial GaussianPath::contraction(const Tensor& x, const Tensor& t) const {
  const Jet variance = moments(t).variance;
  const Tensor half_rate = 0.5 * variance.first / variance.value;
  const Tensor half_rate_first = 0.5 * variance.second / variance.value - 2 * half_rate * half_rate;
  return {(-half_rate).expand_as(x), (-half_rate_first).expand_as(x), torch::zeros_like(x)};
}

Tensor GaussianPath::path_log_ratio(const Tensor& x) const {
  const Interval range = bridge_->interval();
  const Tensor rows = x.to(torch::kFloat64);
  const auto at = [&](double t) {
    return log_density(rows, torch::full({1, 1}, t, rows.options()));
  };
  return at(range.from) - at(range.to);
}

Tensor GaussianPath::transport(const Tensor& x) const {
  const Tensor scale = (ends_.variance1 / ends_.variance0).sqrt();
  return (ends_.mean1 + scale * (x.to(torch::kFloat64) - ends_.mean0)).to(x.scalar_type());
}

}  // namespace dre
