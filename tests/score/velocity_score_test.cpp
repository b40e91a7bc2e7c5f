#include "dre/score/velocity_score.h"

#include <gtest/gtest.h>

#include "dre/base/error.h"
#include "dre/score/fokker_planck.h"
#include "tests/support/exact_scores.h"
#include "tests/support/tangents.h"

namespace dre {
namespace {

using testing::difference;
using testing::draw_points;
using testing::one_sided;
using testing::TurningCase;

/// Brownian and dequantified noise over every curve.
std::vector<BridgePtr> noisy_bridges() {
  std::vector<BridgePtr> all;
  for (const char* curve : {"linear", "arithmetic", "trigonometric", "vpsde"})
    for (const double smoothing : {0.0, 0.05})
      all.push_back(std::make_shared<NoisyBridge>(testing::bridge_named(curve), 1.2, smoothing));
  return all;
}

/// Sum over i of d velocity_i / d x_i, by autograd.
Tensor trace_of_jacobian(const FlowField& field, const Tensor& x, const Tensor& t) {
  const Tensor rows = x.detach().clone().requires_grad_();
  const Tensor velocity = field.flow(rows, t).velocity.value;
  Tensor trace = torch::zeros({x.size(0)}, x.options());
  for (int64_t i = 0; i < x.size(1); ++i)
    trace += testing::gradients(velocity.select(1, i).sum(), {rows})[0].select(1, i);
  return trace;
}

template <class FlowScore>
void expect_exact(const FlowScore& score, const GaussianEnds& ends, const BridgePtr& bridge) {
  const auto oracle = testing::oracle_of(ends);
  const auto path = testing::oracle_path(bridge);
  const auto [x, t] = draw_points(20, ends.mean0.size(0));
  const Tensor time = score.time_score(x, t).value, data = score.data_score(x, t).value;
  EXPECT_LT(difference(time, oracle.time_score(path, x, t)), 1e-9);
  EXPECT_LT(difference(data, oracle.data_score(path, x, t)), 1e-9);
  const FlowPoint flow = score.flow(x, t);
  EXPECT_LT(difference(flow.divergence, trace_of_jacobian(score, x, t)), 1e-9);
  // The continuity equation d/dt log p + div u + u.grad log p = 0 with the oracle's scores.
  const Tensor transported =
      flow.divergence + (flow.velocity.value * oracle.data_score(path, x, t)).sum(1);
  EXPECT_LT(difference(transported, -oracle.time_score(path, x, t)), 1e-9);
}

TEST(VelocityScore, ExactHeadsGiveTheExactScoresAndFlow) {
  for (const int64_t d : {1, 3})
    for (const BridgePtr& bridge : noisy_bridges()) {
      const GaussianEnds ends = testing::gaussian_ends(d);
      expect_exact(testing::exact_velocity_score(ends, bridge), ends, bridge);
    }
}

TEST(VelocityScore, ZeroHeadsOnTheReferenceAreExactToo) {
  for (const BridgePtr& bridge : noisy_bridges()) {
    const GaussianEnds ends = testing::gaussian_ends(3);
    const auto path = std::make_shared<const GaussianPath>(bridge, ends);
    expect_exact(VelocityScore(testing::exact_parts({}, 9, bridge, 3, path)), ends, bridge);
  }
}

/// A residual computed as the difference of two whole scores would leave their rounding, here of
/// several units, for quadratures to chase.
TEST(VelocityScore, ResidualOfZeroHeadsIsZeroInSinglePrecision) {
  const int64_t d = 40;
  const BridgePtr bridge = testing::bridge_named("brownian");
  const auto path = std::make_shared<const GaussianPath>(bridge, testing::gaussian_ends(d));
  const auto network = std::make_shared<testing::ExactNetwork>(nullptr, d, 3 * d, true, Context{});
  const VelocityScore score({network, bridge, path, d});
  const auto [x, t] = draw_points(50, d);
  const Tensor residual =
      score.time_residual((3 * x).to(torch::kFloat32), t.to(torch::kFloat32)).value;
  EXPECT_EQ(residual.abs().max().item<double>(), 0);
}

/// Nothing of sigma' or 1/sigma is left in the formulas: the ends are finite and exact.
TEST(VelocityScore, IsExactAtTheEndsWhereTheNoiseVanishes) {
  const GaussianEnds ends = testing::gaussian_ends(2);
  const BridgePtr bridge = std::make_shared<NoisyBridge>(testing::bridge_named("linear"), 1.2);
  const Tensor x = draw_points(10, 2).x;
  const auto oracle = testing::oracle_of(ends);
  for (const double end : {0.0, 1.0}) {
    const Tensor t = torch::full({10, 1}, end, torch::kFloat64);
    EXPECT_LT(difference(testing::exact_velocity_score(ends, bridge).time_score(x, t).value,
                         oracle.time_score(testing::oracle_path(bridge), x, t)),
              1e-9)
        << end;
  }
}

TEST(OneSidedVelocityScore, ExactHeadsGiveTheExactScoresAndFlow) {
  for (const TurningCase& on : testing::turning_cases())
    for (const int64_t d : {1, 3}) {
      SCOPED_TRACE(on.name);
      const GaussianEnds ends = on.ends(d);
      expect_exact(testing::exact_one_sided_score(ends, on), ends, on.bridge);
    }
}

TEST(OneSidedVelocityScore, HeadsAreMomentsInUnitsOfTheta) {
  for (const TurningCase& on : testing::turning_cases()) {
    SCOPED_TRACE(on.name);
    const GaussianEnds ends = on.ends(3);
    const OneSidedVelocityScore score = testing::exact_one_sided_score(ends, on);
    const auto [x, t] = draw_points(20, 3);
    const auto [mean, variance0, theta] = testing::turning_side(ends, t, on.meeting);
    EXPECT_LT(difference(score.turn(t).angle, theta), 1e-12);
    const Tensor sine = theta.sin(), cosine = theta.cos();
    // u = -sin x0 + cos eps and x = cos x0 + sin eps, jointly Gaussian.
    const Tensor variance = cosine.square() * variance0 + sine.square();
    const Tensor covariance = sine * cosine * (1 - variance0);
    const Tensor velocity = -sine * mean + covariance / variance * (x - cosine * mean);
    const Tensor conditional =
        sine.square() * variance0 + cosine.square() - covariance.square() / variance;
    const OneSidedVelocityScore::Heads heads = score.heads(x, t);
    EXPECT_LT(difference(heads.velocity.value, velocity), 1e-12);
    EXPECT_LT(difference(heads.excess_variance.value + 1, conditional.expand_as(x)), 1e-12);
  }
}

/// cot(theta) is infinite at theta = 0, the heads vanish there, and their product is finite:
/// integrals and flows start at that end.
TEST(OneSidedVelocityScore, IsExactAtBothEnds) {
  for (const TurningCase& on : testing::turning_cases())
    for (const double end : {0.0, 1.0}) {
      SCOPED_TRACE(text(on.name, " at ", end));
      const GaussianEnds ends = on.ends(3);
      const OneSidedVelocityScore score = testing::exact_one_sided_score(ends, on);
      const Tensor x = draw_points(10, 3).x;
      const auto oracle = testing::oracle_of(ends);
      const auto path = testing::oracle_path(on.bridge);
      const Tensor t = torch::full({10, 1}, end, torch::kFloat64);
      EXPECT_LT(difference(score.time_score(x, t).value, oracle.time_score(path, x, t)), 1e-9);
      EXPECT_LT(difference(score.data_score(x, t).value, oracle.data_score(path, x, t)), 1e-9);
      const FlowPoint flow = score.flow(x, t);
      EXPECT_TRUE(flow.velocity.value.isfinite().all().item<bool>());
      EXPECT_LT(difference(flow.divergence, trace_of_jacobian(score, x, t)), 1e-9);
    }
}

TEST(OneSidedVelocityScore, TangentsAreDerivatives) {
  for (const TurningCase& on : testing::turning_cases()) {
    SCOPED_TRACE(on.name);
    OneSidedVelocityScore score(testing::exact_parts({}, 6, on.bridge, 3));
    testing::randomise(score.network().parameters());
    const testing::Points at = draw_points(15, 3);
    at.t[0][0] = 0;
    at.t[1][0] = 1;
    testing::expect_tangents("time", at,
                             [&](const Dual& x, const Dual& t) { return score.time_score(x, t); });
    testing::expect_tangents("data", at,
                             [&](const Dual& x, const Dual& t) { return score.data_score(x, t); });
  }
}

TEST(OneSidedVelocityScore, TakesNoReference) {
  const BridgePtr bridge = one_sided("trigonometric");
  const auto path = std::make_shared<const GaussianPath>(bridge, testing::one_sided_ends(2));
  EXPECT_THROW(OneSidedVelocityScore(testing::exact_parts({}, 4, bridge, 2, path)), Error);
}

TEST(OneSidedVelocityScore, RefusesOtherBridges) {
  for (const BridgePtr& bridge :
       {one_sided("linear"), one_sided("vpsde"), testing::bridge_named("trigonometric"),
        testing::bridge_named("brownian")})
    EXPECT_THROW(OneSidedVelocityScore(testing::exact_parts({}, 4, bridge, 2)), Error);
}

TEST(FokkerPlanck, TimeScoreIsExactForGaussians) {
  for (const int64_t d : {1, 4})
    for (const char* curve : {"vpsde", "trigonometric", "linear"}) {
      const GaussianEnds ends = testing::one_sided_ends(d);
      const BridgePtr bridge = one_sided(curve);
      const auto path = std::make_shared<const GaussianPath>(bridge, ends);
      const JointScore score(testing::exact_parts({}, 1 + d, bridge, d, path));
      const auto [x, t] = draw_points(20, d);
      const Tensor exact = testing::oracle_of(ends).time_score(testing::oracle_path(bridge), x, t);
      EXPECT_LT(difference(fokker_planck_time_score(score, x, t), exact), 1e-8) << curve;
    }
}

TEST(FokkerPlanck, TwoSidedBridgesAreRefused) {
  for (const char* name : {"vpsde", "brownian"}) {
    const BridgePtr bridge = testing::bridge_named(name);
    const JointScore score(testing::exact_parts({}, 3, bridge, 2));
    const auto [x, t] = draw_points(5, 2);
    EXPECT_THROW(fokker_planck_time_score(score, x, t), Error) << name;
  }
}

}  // namespace
}  // namespace dre
