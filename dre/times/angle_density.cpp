#include "dre/times/angle_density.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "dre/base/error.h"

namespace dre {
namespace {

constexpr double largest_angle = M_PI / 2;

double density(double angle) {
  const double cotangent = 1 / std::tan(angle);
  return std::sqrt(2 * cotangent * cotangent + 1);
}

/// An antiderivative of the density, with c = cos theta: asinh c - sqrt(2) atanh(sqrt(2) c /
/// sqrt(1 + c^2)). The argument of atanh is near 1 for small angles: written with its distance
/// from 1, (1 - c^2)/(1 + c^2) = (1 - q)(1 + q), it keeps its digits.
double integral(double angle) {
  const double c = std::cos(angle), sine = std::sin(angle);
  const double q = std::sqrt(2 / (1 + c * c)) * c;
  const double below_one = sine * sine / ((1 + c * c) * (1 + q));
  return std::asinh(c) - std::sqrt(0.5) * (std::log1p(q) - std::log(below_one));
}

}  // namespace

AngleDensity::AngleDensity(double low, double high) : low_(low), high_(high) {
  check(0 < low && low < high && high <= largest_angle,
        "angles must lie between 0 and a quarter turn, got ", low, " to ", high);
  start_ = integral(low);
  total_ = integral(high) - start_;
}

AngleDensity AngleDensity::of_both_sides(double low) {
  AngleDensity density(low, largest_angle);
  density.both_sides_ = true;
  return density;
}

AngleDensity::Quantile AngleDensity::at(double u) const {
  constexpr double rounding = 1e-12;  // of the quadrature nodes that callers ask for
  check(u >= -rounding && u <= 1 + rounding, "a share lies between 0 and 1, got ", u);
  if (!both_sides_) return one_sided(u);
  // Each side has half the share and half the time: the slope is the same.
  const auto [t, slope] = one_sided(2 * std::min(u, 1 - u));
  return {u < 0.5 ? t / 2 : 1 - t / 2, slope};
}

AngleDensity::Quantile AngleDensity::one_sided(double u) const {
  double below = low_, above = high_;
  for (int i = 0; i < 60; ++i) {
    const double middle = (below + above) / 2;
    (integral(middle) - start_ < u * total_ ? below : above) = middle;
  }
  const double angle = (below + above) / 2;
  return {angle / largest_angle, total_ / density(angle) / largest_angle};
}

AngleSampler::AngleSampler(const AngleDensity& density, const torch::TensorOptions& options) {
  constexpr int64_t cells = 4096;
  std::vector<double> times;
  for (int64_t i = 0; i <= cells; ++i)
    times.push_back(density.at(static_cast<double>(i) / cells).t);
  times_ = torch::tensor(times, torch::kFloat64).to(options);
}

Tensor AngleSampler::draw(int64_t n, at::Generator& generator) const {
  const auto cells = static_cast<double>(times_.size(0) - 1);
  const Tensor u = at::arange(n, times_.options()).add_(uniform({n}, times_.options(), generator));
  const Tensor place = u.mul_(cells / static_cast<double>(n)).clamp_max_(cells * (1 - 1e-7));
  const Tensor cell = place.to(torch::kInt64);
  const Tensor left = times_.index_select(0, cell), right = times_.index_select(0, cell + 1);
  return (left + (right - left) * (place - cell)).unsqueeze(1);
}

}  // namespace dre
