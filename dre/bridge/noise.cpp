#include "dre/bridge/noise.h"

#include <cmath>
#include <utility>

#include "dre/base/error.h"

namespace dre {
namespace {

Jet squared(const Jet& f) {
  return {f.value * f.value, 2 * f.value * f.first, 2 * (f.first * f.first + f.value * f.second)};
}

Jet sum(const Jet& f, const Jet& g) {
  return {f.value + g.value, f.first + g.first, f.second + g.second};
}

Jet scaled(const Jet& f, double factor) {
  return {f.value * factor, f.first * factor, f.second * factor};
}

}  // namespace

NoisyBridge::NoisyBridge(BridgePtr inner, double gamma, double smoothing)
    : inner_(std::move(inner)), gamma_(gamma), smoothing_(smoothing) {
  check(gamma >= 0 && smoothing >= 0, "noise and smoothing must not be negative, got ", gamma,
        " and ", smoothing);
}

Coefficients NoisyBridge::at(const Tensor& t) const {
  Coefficients c = inner_->at(t);
  const Jet parabola{t * (1 - t), 1 - 2 * t, torch::full_like(t, -2)};
  c.variance = sum(c.variance, scaled(parabola, gamma_ * gamma_));
  if (smoothing_ > 0)
    c.variance = sum(c.variance, scaled(sum(squared(c.a), squared(c.b)), smoothing_));
  return c;
}

SlowBrownianBridge::SlowBrownianBridge(double gamma) : gamma_(gamma) {
  check(gamma >= 0, "noise must not be negative, got ", gamma);
}

Coefficients SlowBrownianBridge::at(const Tensor& t) const {
  const double speed = M_PI / 2;
  // Sine and cosine are squared, not 1 - s: small ones keep their digits.
  const Tensor sine = (speed * t).sin(), cosine = (speed * t).cos();
  const Tensor sine2 = 2 * sine * cosine, cosine2 = cosine.square() - sine.square();
  const Jet b{sine.square(), speed * sine2, 2 * speed * speed * cosine2};
  const double scale = gamma_ * gamma_;
  return {{cosine.square(), -b.first, -b.second},
          b,
          {scale / 4 * sine2.square(), scale * speed * sine2 * cosine2,
           2 * scale * speed * speed * (cosine2.square() - sine2.square())}};
}

OneSidedBridge::OneSidedBridge(BridgePtr inner) : inner_(std::move(inner)) {}

Coefficients OneSidedBridge::at(const Tensor& t) const {
  Coefficients c = inner_->at(t);
  c.variance = sum(c.variance, squared(c.b));
  const Tensor zero = torch::zeros_like(t);
  c.b = {zero, zero, zero};
  return c;
}

}  // namespace dre
