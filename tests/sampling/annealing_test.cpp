#include "dre/sampling/annealing.h"

#include <gtest/gtest.h>

#include "dre/numeric/statistics.h"
#include "tests/sampling/targets.h"

namespace dre {
namespace {

using namespace dre::testing;

const Context context{torch::kCPU, torch::kFloat64, 7};

AnnealOptions small_run(int64_t chains, int64_t steps) {
  AnnealOptions options;
  options.chains = chains;
  options.steps = steps;
  options.leapfrogs = 3;
  options.pilot_steps = 40;
  return options;
}

struct Found {
  Route route;
  AisResult forward;
  RaiseResult backward;
  Tensor gap;  ///< of the reverse estimate over the true log-density, point by point
};

/// Both estimators, the reverse one from points drawn from the target.
Found estimate(const Target& target, const AnnealOptions& options, int64_t points) {
  auto generator = context.generator("run");
  Progress silent;
  const LogRatioFunction log_ratio = target.function();
  const Route route =
      pilot_run(log_ratio, target.dimension, options, context.options(), generator, silent);
  const Tensor z = target.draw(points, generator);
  const AisResult forward =
      ais(log_ratio, target.dimension, route, options, context.options(), generator, silent);
  const RaiseResult backward = raise(log_ratio, z, route, options, generator, silent);
  return {route, forward, backward, backward.values - target.log_density(z)};
}

class Annealing : public ::testing::TestWithParam<Target> {};

/// The likelihood by AIS lies above the truth (log Z below), by RAISE below; slow annealing brings
/// both to it.
TEST_P(Annealing, SlowAnnealingBracketsTheTruth) {
  const Found found = estimate(GetParam(), small_run(1000, 80), 1000);
  const auto& [route, forward, backward, gap] = found;
  EXPECT_NEAR(forward.log_normaliser, GetParam().log_normaliser, 4 * forward.standard_error);
  EXPECT_LT(forward.standard_error, 0.05);
  EXPECT_LT(weighted_mean(gap), 4 * standard_error(gap));
  EXPECT_NEAR(weighted_mean(gap), 0, 0.1);
  EXPECT_NEAR(forward.acceptance, 0.6, 0.2);
  EXPECT_NEAR(backward.acceptance, 0.6, 0.2);
  EXPECT_TRUE(forward.finished && backward.finished);
}

/// E exp(w) = Z whatever the number of temperatures, and E exp(-w) over points of the target is
/// 1/Z: an update in the wrong order breaks it.
TEST_P(Annealing, WeightsOfAFewStepsAreUnbiased) {
  const Target& target = GetParam();
  auto generator = context.generator("few steps");
  Progress silent;
  const AnnealOptions options = small_run(40000, 3);
  const Route route = Route::even(0.4, torch::kFloat64);
  const AisResult forward = ais(target.function(), target.dimension, route, options,
                                context.options(), generator, silent);
  EXPECT_NEAR(forward.log_normaliser, target.log_normaliser, 4 * forward.standard_error);
  const Tensor z = target.draw(40000, generator);
  const RaiseResult backward = raise(target.function(), z, route, options, generator, silent);
  const Tensor weights = (backward.values - target.log_density(z)).exp();
  EXPECT_NEAR(weighted_mean(weights), 1, 4 * standard_error(weights));
}

/// Fast annealing shows which bound is which.
TEST_P(Annealing, FewStepsWidenTheBracket) {
  const Found fast = estimate(GetParam(), small_run(1000, 2), 1000);
  EXPECT_LT(fast.forward.log_weights.mean().item<double>(), GetParam().log_normaliser);
  EXPECT_LT(weighted_mean(fast.gap), -4 * standard_error(fast.gap));
}

INSTANTIATE_TEST_SUITE_P(Targets, Annealing, ::testing::ValuesIn(targets()),
                         [](const auto& info) { return info.param.name; });

TEST(AnnealingRuns, BlocksAndSeedsDecideNothingElse) {
  const Target target = mixture(2, 1.0, 0.6, -1);
  AnnealOptions options = small_run(50, 5);
  EXPECT_TRUE(torch::equal(estimate(target, options, 40).backward.values,
                           estimate(target, options, 40).backward.values));
  options.block = 7;
  EXPECT_EQ(estimate(target, options, 40).backward.values.size(0), 40);
}

TEST(AnnealingRuns, DoublingDoublesTheSteps) {
  const Target target = mixture(1, 1.2, 0.5, 2);
  const auto pair = doubled(small_run(20, 5), [&](const AnnealOptions& options) {
    return estimate(target, options, 10).forward;
  });
  EXPECT_EQ(pair.once.steps, 5);
  EXPECT_EQ(pair.twice.steps, 10);
}

TEST(AnnealingRuns, AStopIsToldToTheCaller) {
  struct Stopped final : Progress {
    bool stop_requested() override { return true; }
  } stopped;
  const Target target = mixture(1, 1.2, 0.5, 2);
  auto generator = context.generator("run");
  const Route route = Route::even(0.4, torch::kFloat64);
  EXPECT_FALSE(
      ais(target.function(), 1, route, small_run(10, 5), context.options(), generator, stopped)
          .finished);
}

}  // namespace
}  // namespace dre
