#include "dre/bridge/noise.h"

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

OneSidedBridge::OneSidedBridge(BridgePtr inner) : inner_(std::move(inner)) {}

Coefficients OneSidedBridge::at(const Tensor& t) const {
  Coefficients c = inner_->at(t);
  c.variance = sum(c.variance, squared(c.b));
  const Tensor zero = torch::zeros_like(t);
  c.b = {zero, zero, zero};
  return c;
}

}  // namespace dre
