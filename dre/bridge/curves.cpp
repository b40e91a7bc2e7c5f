#include "dre/bridge/curves.h"

#include <cmath>

namespace dre {
namespace {

Jet no_noise(const Tensor& t) {
  const Tensor zero = torch::zeros_like(t);
  return {zero, zero, zero};
}

/// b = sqrt(1 - a^2) with its derivatives, from those of a. `squared` is 1 - a^2, computed without
/// cancellation.
Jet complement(const Jet& a, const Tensor& squared) {
  const Tensor b = squared.sqrt();
  const Tensor first = -a.value * a.first / b;
  // b^2 + a^2 = 1 twice differentiated: b b'' + b'^2 = -(a a'' + a'^2).
  const Tensor second = -(a.value * a.second + a.first * a.first + first * first) / b;
  return {b, first, second};
}

}  // namespace

Coefficients LinearBridge::at(const Tensor& t) const {
  const Tensor one = torch::ones_like(t), zero = torch::zeros_like(t);
  return {{1 - t, -one, zero}, {t, one, zero}, no_noise(t)};
}

Coefficients ArithmeticBridge::at(const Tensor& t) const {
  const Jet alpha{t, torch::ones_like(t), torch::zeros_like(t)};
  return {complement(alpha, (1 - t) * (1 + t)), alpha, no_noise(t)};
}

Coefficients TrigonometricBridge::at(const Tensor& t) const {
  const double speed = M_PI / 2;
  const Tensor cosine = (speed * t).cos(), sine = (speed * t).sin();
  return {{cosine, -speed * sine, -speed * speed * cosine},
          {sine, speed * cosine, -speed * speed * sine},
          no_noise(t)};
}

VpsdeBridge::VpsdeBridge(double beta_start, double beta_end)
    : beta_start_(beta_start), beta_end_(beta_end) {}

Coefficients VpsdeBridge::at(const Tensor& t) const {
  const double slope = beta_end_ - beta_start_;
  const Tensor exponent = -0.25 * slope * t * t - 0.5 * beta_start_ * t;
  const Tensor rate = -0.5 * (beta_start_ + slope * t);
  const Tensor value = exponent.exp();
  const Jet a{value, rate * value, (rate * rate - 0.5 * slope) * value};
  return {a, complement(a, -torch::expm1(2 * exponent)), no_noise(t)};
}

}  // namespace dre
