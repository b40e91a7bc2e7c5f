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

/// 1 before t = 1/2, 0 from there on.
Tensor first_half(const Tensor& t) { return (t < 0.5).to(t.dtype()); }

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

OneSidedBridge::OneSidedBridge(BridgePtr inner) : inner_(std::move(inner)) {}

Coefficients OneSidedBridge::at(const Tensor& t) const {
  Coefficients c = inner_->at(t);
  c.variance = sum(c.variance, squared(c.b));
  const Tensor zero = torch::zeros_like(t);
  c.b = {zero, zero, zero};
  return c;
}

Turn MeetingBridge::turn(const Tensor& t) const {
  // The rest of the way, not the whole of it: in single precision small angles keep their digits.
  return {M_PI * at::minimum(t, 1 - t), 2 * M_PI * first_half(t) - M_PI};
}

Coefficients MeetingBridge::at(const Tensor& t) const {
  const auto [theta, rate] = turn(t);
  const Tensor sine = theta.sin(), cosine = theta.cos();
  const Jet side{cosine, -rate * sine, -M_PI * M_PI * cosine};
  const auto where = [](const Tensor& mask, const Jet& f) -> Jet {
    return {f.value * mask, f.first * mask, f.second * mask};
  };
  const Tensor before = first_half(t);
  return {where(before, side),
          where(1 - before, side),
          {sine.square(), 2 * rate * sine * cosine,
           2 * M_PI * M_PI * (cosine.square() - sine.square())}};
}

}  // namespace dre
