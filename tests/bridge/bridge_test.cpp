#include "dre/bridge/bridge.h"

#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <cmath>

#include "dre/base/error.h"
#include "dre/bridge/curves.h"
#include "dre/bridge/meeting.h"
#include "dre/bridge/noise.h"

namespace dre {
namespace {

struct Case {
  std::string name;
  BridgePtr bridge;
};

/// Every bridge by name, and the wrappers over each of them.
std::vector<Case> all_bridges() {
  std::vector<Case> cases;
  for (const auto& name : BridgeOptions::bridge_names()) {
    const BridgePtr bridge = make_bridge(name);
    cases.push_back({name, bridge});
    cases.push_back({name + " noisy", std::make_shared<NoisyBridge>(bridge, 0.7, 0.01)});
    cases.push_back({name + " one-sided", std::make_shared<OneSidedBridge>(bridge)});
  }
  cases.push_back({"meeting", std::make_shared<MeetingBridge>()});
  return cases;
}

Tensor derivative(const Tensor& y, const Tensor& t) {
  const auto grads = torch::autograd::grad({(y + 0 * t).sum()}, {t}, {}, true, true, true);
  return grads[0];
}

TEST(Bridge, DerivativesMatchAutograd) {
  for (const auto& [name, bridge] : all_bridges()) {
    // An even number of times: where two bridges meet, at 1/2, there is a kink.
    const Tensor t = torch::linspace(0.02, 0.98, 24, torch::kFloat64).requires_grad_();
    const Coefficients c = bridge->at(t);
    for (const Jet* jet : {&c.a, &c.b, &c.variance}) {
      const Tensor first = derivative(jet->value, t);
      EXPECT_TRUE(torch::allclose(jet->first, first, 1e-10, 1e-10)) << name;
      EXPECT_TRUE(torch::allclose(jet->second, derivative(jet->first, t), 1e-9, 1e-9)) << name;
    }
  }
}

TEST(Bridge, EndsAreWhatTheNamePromises) {
  for (const auto& name : {"linear", "arithmetic", "trigonometric", "brownian"}) {
    const BridgePtr bridge = make_bridge(name);
    EXPECT_NEAR(bridge->start().a, 1, 1e-12) << name;
    EXPECT_NEAR(bridge->start().b, 0, 1e-12) << name;
    EXPECT_NEAR(bridge->finish().b, 1, 1.1e-5) << name;
    EXPECT_NEAR(bridge->finish().a, 0, 5e-3) << name;
    EXPECT_NEAR(bridge->start().variance + bridge->finish().variance, 0, 1e-12) << name;
  }
}

TEST(Bridge, VpsdeKeepsAShareOfTheNumerator) {
  const VpsdeBridge bridge(0.1, 20);
  EXPECT_NEAR(bridge.finish().a, 0.0066, 5e-5);
}

TEST(Bridge, SmoothingActsAlikeOnBothEnds) {
  BridgeOptions options;
  options.bridge = "dequantified";
  options.smoothing = 0.04;
  const BridgePtr bridge = make_bridge(options);
  EXPECT_NEAR(bridge->start().variance, 0.04, 1e-12);
  EXPECT_NEAR(bridge->finish().variance, 0.04, 1e-12);
}

TEST(Bridge, VpsdeIsAccurateNearItsStart) {
  const VpsdeBridge bridge(0.1, 20);
  const Tensor t = torch::full({1}, 1e-5, torch::kFloat32);
  const double b = bridge.at(t).b.value.item<double>();
  const double exact = std::sqrt(-std::expm1(-0.5 * 1e-10 * 19.9 - 1e-5 * 0.1));
  EXPECT_NEAR(b / exact, 1, 1e-6);
}

/// Each half is the one-sided trigonometric bridge of its side, and the middle is N(0, I).
TEST(Bridge, TheMeetingBridgeIsTwoOneSidedOnes) {
  const MeetingBridge bridge;
  const OneSidedBridge one_sided(std::make_shared<TrigonometricBridge>());
  const auto same = [](const Tensor& a, const Tensor& b) {
    EXPECT_TRUE(torch::allclose(a, b, 1e-12, 1e-12));
  };
  const Tensor t = torch::linspace(0, 0.499, 21, torch::kFloat64);
  const Coefficients before = bridge.at(t), after = bridge.at(1 - t),
                     expected = one_sided.at(2 * t);
  const Tensor zero = torch::zeros_like(t);
  same(before.a.value, expected.a.value);
  same(before.b.value, zero);
  same(after.b.value, expected.a.value);
  same(after.a.value, zero);
  same(before.variance.value, expected.variance.value);
  same(after.variance.value, expected.variance.value);
  same(bridge.turn(t).angle, M_PI * t);
  same(bridge.turn(1 - t).angle, M_PI * t);
  same(bridge.turn(t).rate, zero + M_PI);
  same(bridge.turn(1 - t).rate, zero - M_PI);
  const Coefficients middle = bridge.at(torch::full({1}, 0.5, torch::kFloat64));
  EXPECT_NEAR(middle.a.value.item<double>() + middle.b.value.item<double>(), 0, 1e-12);
  EXPECT_NEAR(middle.variance.value.item<double>(), 1, 1e-12);
  // Near both ends single precision still knows the size of the noise.
  for (const float time : {1e-3F, 1 - 1e-3F}) {
    const double exact = std::sin(M_PI * std::min<double>(time, 1 - static_cast<double>(time)));
    EXPECT_NEAR(bridge.at(torch::full({1}, time)).sigma().item<double>() / exact, 1, 1e-6);
  }
}

TEST(DrawPoint, MomentsAreTheBridges) {
  const int64_t n = 40000;
  Context context{torch::kCPU, torch::kFloat64, 3};
  auto generator = context.generator("points");
  const Tensor x0 = normal({n, 1}, context.options(), generator) * 0.5 + 2;
  const Tensor x1 = normal({n, 1}, context.options(), generator) - 1;
  const Tensor t = torch::full({n, 1}, 0.3, torch::kFloat64);
  for (const auto& [name, bridge] : all_bridges()) {
    const BridgePoint point = draw_point(*bridge, x0, x1, t, generator);
    const auto first = [](const Tensor& value) { return value[0][0].item<double>(); };
    const double a = first(point.at.a.value), b = first(point.at.b.value),
                 v = first(point.at.variance.value);
    const double variance = a * a * 0.25 + b * b + v;
    const double standard_error = std::sqrt(variance / n);
    EXPECT_NEAR(point.x.mean().item<double>(), 2 * a - b, 4 * standard_error) << name;
    EXPECT_NEAR(point.x.var().item<double>(), variance, 4 * variance * std::sqrt(2.0 / n)) << name;
    EXPECT_EQ(bridge->has_noise(), point.noise.defined()) << name;
  }
}

TEST(DrawPoint, RefusesWrongShapes) {
  Context context;
  auto generator = context.generator("points");
  const LinearBridge bridge;
  EXPECT_THROW(draw_point(bridge, torch::zeros({3, 2}), torch::zeros({4, 2}), torch::zeros({3, 1}),
                          generator),
               Error);
  EXPECT_THROW(
      draw_point(bridge, torch::zeros({3, 2}), torch::zeros({3, 2}), torch::zeros({3}), generator),
      Error);
}

}  // namespace
}  // namespace dre
