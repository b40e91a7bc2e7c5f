#include "dre/bridge/bridge.h"

#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include "dre/base/error.h"
#include "dre/bridge/curves.h"
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
    BridgeOptions options;
    options.bridge = name;
    const BridgePtr bridge = make_bridge(options);
    cases.push_back({name, bridge});
    cases.push_back({name + " noisy", std::make_shared<NoisyBridge>(bridge, 0.7, 0.01)});
    cases.push_back({name + " one-sided", std::make_shared<OneSidedBridge>(bridge)});
  }
  cases.push_back({"slow brownian", std::make_shared<SlowBrownianBridge>(1.2)});
  return cases;
}

Tensor derivative(const Tensor& y, const Tensor& t) {
  const auto grads = torch::autograd::grad({(y + 0 * t).sum()}, {t}, {}, true, true, true);
  return grads[0];
}

TEST(Bridge, DerivativesMatchAutograd) {
  for (const auto& [name, bridge] : all_bridges()) {
    const Tensor t = torch::linspace(0.02, 0.98, 25, torch::kFloat64).requires_grad_();
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
    BridgeOptions options;
    options.bridge = name;
    const BridgePtr bridge = make_bridge(options);
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

/// It is the Brownian bridge at another time, and with gamma^2 = 2 keeps unit variance.
TEST(Bridge, TheSlowBrownianBridgeIsTheBrownianOneAtAnotherTime) {
  const double gamma = std::sqrt(2.0);
  const Tensor t = torch::linspace(0, 1, 21, torch::kFloat64);
  const Coefficients slow = SlowBrownianBridge(gamma).at(t);
  const Coefficients usual =
      NoisyBridge(std::make_shared<LinearBridge>(), gamma).at((t * (M_PI / 2)).sin().square());
  EXPECT_TRUE(torch::allclose(slow.a.value, usual.a.value, 1e-12, 1e-12));
  EXPECT_TRUE(torch::allclose(slow.b.value, usual.b.value, 1e-12, 1e-12));
  EXPECT_TRUE(torch::allclose(slow.variance.value, usual.variance.value, 1e-12, 1e-12));
  const Tensor variance = slow.a.value.square() + slow.b.value.square() + slow.variance.value;
  EXPECT_TRUE(torch::allclose(variance, torch::ones_like(t), 1e-12, 1e-12));
  // Near both ends single precision still knows the size of the noise.
  for (const double angle : {0.003, M_PI / 2 - 0.003}) {
    const Tensor single = torch::full({1}, angle / (M_PI / 2), torch::kFloat32);
    EXPECT_NEAR(SlowBrownianBridge(gamma).at(single).sigma().item<double>() /
                    (gamma * std::sin(angle) * std::cos(angle)),
                1, 1e-4);
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
