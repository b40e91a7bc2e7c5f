#include "dre/sampling/route.h"

#include <gtest/gtest.h>

#include "dre/numeric/statistics.h"
#include "dre/sampling/annealing.h"
#include "tests/sampling/targets.h"

namespace dre {
namespace {

using namespace dre::testing;

const Context route_context{torch::kCPU, torch::kFloat64, 7};

AnnealOptions small_run(int64_t chains, int64_t steps, int64_t pilot_steps) {
  AnnealOptions options;
  options.chains = chains;
  options.steps = steps;
  options.leapfrogs = 3;
  options.pilot_steps = pilot_steps;
  return options;
}

struct FoundRoute {
  Route route;
  AisResult forward;
};

FoundRoute anneal(const Target& target, const AnnealOptions& options) {
  auto generator = route_context.generator("run");
  Progress silent;
  PowerTilt tilt = target.tilt();
  const Route route =
      pilot_run(tilt, target.dimension, options, route_context.options(), generator, silent);
  return {route,
          ais(tilt, target.dimension, route, options, route_context.options(), generator, silent)};
}

TEST(Route, PilotRunReachesTheWantedAcceptance) {
  const Target target = gaussian_tilt(20, 8, 0.3, 0);  // narrower and narrower along the path
  const FoundRoute found = anneal(target, small_run(200, 100, 200));
  const Tensor& sizes = found.route.step_sizes();
  EXPECT_LT(sizes[-1].item<double>(), 0.6 * sizes[0].item<double>());
  EXPECT_NEAR(found.forward.acceptance, 0.6, 0.05);
}

TEST(Route, PilotRunFollowsATargetThatNarrowsQuickly) {
  const Target target = gaussian_tilt(20, 2000, 0.3, 0);
  EXPECT_NEAR(anneal(target, small_run(100, 100, 50)).forward.acceptance, 0.6, 0.2);
}

/// A funnel: the first coordinate u is N(0, 1), the others have the width exp(u). Chains from N(0,
/// I) seldom come into its neck, and pass on steps that no point there survives.
TEST(Route, PilotRunBackFitsPointsThatForwardChainsMiss) {
  const int64_t d = 5;
  PowerTilt tilt(differentiated([=](const Tensor& z) {
    const Tensor u = z.narrow(1, 0, 1), rest = z.narrow(1, 1, d - 1);
    return (0.5 * rest.square() * (1 - (-2 * u).exp()) - u).sum(1);
  }));
  auto generator = route_context.generator("funnel");
  Progress silent;
  const AnnealOptions options = small_run(200, 200, 40);
  const auto draw = [&] {
    const Tensor z = normal({200, d}, torch::kFloat64, generator);
    z.narrow(1, 0, 1).mul_(0.2).sub_(3);
    z.narrow(1, 1, d - 1).mul_(z.narrow(1, 0, 1).exp());
    return z;
  };
  const Route there = pilot_run(tilt, d, options, route_context.options(), generator, silent);
  const Route back = pilot_run_back(tilt, draw(), options, generator, silent);
  const Tensor z = draw(), truth = standard_normal_log_prob(z) + tilt.value(z, 1);  // Z = 1
  const RaiseResult with_there = raise(tilt, z, there, options, generator, silent);
  const RaiseResult with_back = raise(tilt, z, back, options, generator, silent);
  const Tensor gap_there = with_there.values - truth, gap_back = with_back.values - truth;
  EXPECT_LT(with_there.acceptance, 0.3);
  EXPECT_GT(with_back.acceptance, 0.5);
  EXPECT_GT(weighted_mean(gap_back), weighted_mean(gap_there) + 1);
  EXPECT_LT(weighted_mean(gap_back), 4 * standard_error(gap_back));
}

TEST(Route, TheStartOfThePilotRunAsksNothingOfTheRatio) {
  int64_t asked = 0;
  PowerTilt flat([&](const Tensor& z) -> Slope {
    ++asked;
    return {torch::zeros({z.size(0)}, z.options()), torch::zeros_like(z)};
  });
  const AnnealOptions options = small_run(10, 1, 3);
  auto generator = route_context.generator("pilot");
  Progress silent;
  pilot_run(flat, 2, options, torch::kFloat64, generator, silent);
  EXPECT_LT(asked, 100);  // 141 transitions would ask hundreds of times
}

TEST(Route, StepSizesAreInterpolated) {
  const Tensor sizes = torch::tensor({1.0, 2.0, 4.0}, torch::kFloat64);
  const Route route(sizes, torch::ones_like(sizes));
  EXPECT_DOUBLE_EQ(route.step(0).item<double>(), 1);
  EXPECT_DOUBLE_EQ(route.step(0.0625).item<double>(), 1.5);
  EXPECT_DOUBLE_EQ(route.step(0.25).item<double>(), 2);
  EXPECT_DOUBLE_EQ(route.step(0.5625).item<double>(), 3);
  EXPECT_DOUBLE_EQ(route.step(1).item<double>(), 4);
}

TEST(Route, EqualSpreadMeansEvenTemperatures) {
  const std::vector<double> beta = even_route(0.4).temperatures(4);
  ASSERT_EQ(beta.size(), 5);
  for (size_t i = 0; i < beta.size(); ++i)
    EXPECT_NEAR(beta[i], 0.25 * static_cast<double>(i), 1e-15);
}

/// For N(0, I) tilted by exp(-a/2 |z|^2) the spread of log r is a/2 sqrt(2 d) / (1 + a beta), so
/// the way from 0 to beta has a length in proportion to log(1 + a beta).
TEST(Route, TemperaturesLieAtEqualDistancesOfTheSpread) {
  const double a = 50;
  const int64_t knots = 400, n = 20;
  const Tensor root = torch::linspace(0, 1, knots + 1, torch::kFloat64);
  const Route route(torch::ones_like(root), a / (1 + a * root.square()));
  const std::vector<double> beta = route.temperatures(n);
  ASSERT_EQ(beta.size(), n + 1);
  EXPECT_EQ(beta.front(), 0);
  EXPECT_EQ(beta.back(), 1);
  for (int64_t i = 1; i <= n; ++i) {
    EXPECT_GT(beta[i], beta[i - 1]);
    const double share = std::log1p(a * beta[i]) / std::log1p(a);
    EXPECT_NEAR(share, static_cast<double>(i) / n, 0.01);  // what is added everywhere shifts it
  }
}

TEST(Route, NoTemperatureIsLostWhereNothingIsKnown) {
  const Tensor nothing = torch::full({3}, std::nan(""), torch::kFloat64);
  const std::vector<double> beta = Route(torch::ones_like(nothing), nothing).temperatures(8);
  for (size_t i = 1; i < beta.size(); ++i) EXPECT_NEAR(beta[i] - beta[i - 1], 0.125, 1e-12);
}

/// What it is good for: with as many temperatures the weights vary less, and log Z comes nearer.
TEST(Route, WeightsVaryLessThanWithEvenTemperatures) {
  const Target target = gaussian_tilt(20, 200, 0.3, 0);
  const AnnealOptions options = small_run(400, 60, 60);
  const FoundRoute found = anneal(target, options);
  auto generator = route_context.generator("even");
  Progress silent;
  const Route even(found.route.step_sizes(), torch::ones_like(found.route.step_sizes()));
  PowerTilt tilt = target.tilt();
  const AisResult evenly =
      ais(tilt, target.dimension, even, options, route_context.options(), generator, silent);
  const auto gap = [&](const AisResult& result) {
    return std::abs(result.log_weights.mean().item<double>() - target.log_normaliser);
  };
  EXPECT_LT(gap(found.forward), 0.5 * gap(evenly));
  EXPECT_LT(gap(found.forward), 30);
  EXPECT_LT(found.forward.log_weights.std().item<double>(),
            0.7 * evenly.log_weights.std().item<double>());
}

}  // namespace
}  // namespace dre
