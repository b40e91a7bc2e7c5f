#include "dre/bridge/bridge.h"

#include "dre/base/error.h"
#include "dre/base/names.h"
#include "dre/bridge/curves.h"
#include "dre/bridge/noise.h"

namespace dre {
namespace {

using Maker = BridgePtr (*)(const BridgeOptions&);

BridgePtr make_curve(const std::string& name, const BridgeOptions& options);

/// To add a bridge: one file pair, one row here, one row in tests/bridge/bridge_test.cpp.
const std::vector<Named<Maker>>& makers() {
  static const std::vector<Named<Maker>> table = {
      {"linear",
       [](const BridgeOptions&) -> BridgePtr { return std::make_shared<LinearBridge>(); }},
      {"arithmetic",
       [](const BridgeOptions&) -> BridgePtr { return std::make_shared<ArithmeticBridge>(); }},
      {"trigonometric",
       [](const BridgeOptions&) -> BridgePtr { return std::make_shared<TrigonometricBridge>(); }},
      {"vpsde",
       [](const BridgeOptions& o) -> BridgePtr {
         return std::make_shared<VpsdeBridge>(o.beta_start, o.beta_end);
       }},
      {"brownian",
       [](const BridgeOptions& o) -> BridgePtr {
         return std::make_shared<NoisyBridge>(make_curve(o.curve, o), o.noise);
       }},
      {"dequantified",
       [](const BridgeOptions& o) -> BridgePtr {
         return std::make_shared<NoisyBridge>(make_curve(o.curve, o), o.noise, o.smoothing);
       }},
  };
  return table;
}

BridgePtr make_curve(const std::string& name, const BridgeOptions& options) {
  return choose("bridge curve", makers(), name)(options);
}

const Names& curve_names() {
  static const Names names = {"linear", "arithmetic", "trigonometric", "vpsde"};
  return names;
}

}  // namespace

void BridgeOptions::visit(OptionVisitor& v, const Names& names) {
  v("bridge", bridge, names, "path between numerator (t=0) and denominator (t=1)");
  v("bridge-curve", curve, curve_names(),
    "path that the brownian and dequantified bridges add noise to");
  v("bridge-noise", noise, at_least(0),
    "noise scale gamma of the brownian and dequantified bridges");
  v("bridge-smoothing", smoothing, at_least(0), "end smoothing e of the dequantified bridge");
  v("beta-start", beta_start, positive(), "vpsde bridge: rate at t=0");
  v("beta-end", beta_end, positive(), "vpsde bridge: rate at t=1");
}

BridgePtr make_bridge(const BridgeOptions& options) {
  return choose("bridge", makers(), options.bridge)(options);
}

BridgePtr make_bridge(const std::string& name) {
  BridgeOptions options;
  options.bridge = name;
  return make_bridge(options);
}

Names BridgeOptions::bridge_names() { return names_of(makers()); }

End Bridge::end_at(double t) const {
  const Coefficients c = at(torch::full({1}, t, torch::kFloat64));
  return {c.a.value.item<double>(), c.b.value.item<double>(), c.variance.value.item<double>()};
}

BridgePoint point_at(const Bridge& bridge, const Tensor& x0, const Tensor& x1, const Tensor& noise,
                     const Tensor& t) {
  check(x0.sizes() == x1.sizes() && x0.dim() == 2, "x0 and x1 must both be [n, d], got ",
        x0.sizes(), " and ", x1.sizes());
  check(t.dim() == 2 && t.size(0) == x0.size(0) && t.size(1) == 1, "t must be [n, 1], got ",
        t.sizes());
  check(noise.defined() == bridge.has_noise(),
        "noise must be given exactly where the bridge has some");
  const Coefficients at = bridge.at(t);
  Tensor x = at.a.value * x0 + at.b.value * x1;
  if (noise.defined()) x = x + at.sigma() * noise;
  return {x, at.a.first * x0 + at.b.first * x1, noise, at};
}

BridgePoint draw_point(const Bridge& bridge, const Tensor& x0, const Tensor& x1, const Tensor& t,
                       at::Generator& generator) {
  const Tensor noise = bridge.has_noise() ? normal(x0.sizes(), x0.options(), generator) : Tensor();
  return point_at(bridge, x0, x1, noise, t);
}

}  // namespace dre
