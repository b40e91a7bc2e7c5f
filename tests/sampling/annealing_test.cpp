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
  StepSizes step_sizes;
  AisResult forward;
  RaiseResult backward;
  Tensor gap;  ///< of the reverse estimate over the true log-density, point by point
};

/// Both estimators, the reverse one from points drawn from the target.
Found estimate(const Target& target, const AnnealOptions& options, int64_t points) {
  auto generator = context.generator("run");
  Progress silent;
  const LogRatioFunction log_ratio = target.function();
  const StepSizes sizes =
      pilot_run(log_ratio, target.dimension, options, context.options(), generator, silent);
  const Tensor z = target.draw(points, generator);
  const AisResult forward =
      ais(log_ratio, target.dimension, sizes, options, context.options(), generator, silent);
  const RaiseResult backward = raise(log_ratio, z, sizes, options, generator, silent);
  return {sizes, forward, backward, backward.values - target.log_density(z)};
}

class Annealing : public ::testing::TestWithParam<Target> {};

/// The likelihood by AIS lies above the truth (log Z below), by RAISE below; slow annealing brings
/// both to it.
TEST_P(Annealing, SlowAnnealingBracketsTheTruth) {
  const Found found = estimate(GetParam(), small_run(1000, 80), 1000);
  const auto& [sizes, forward, backward, gap] = found;
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
  const StepSizes sizes(torch::full({2}, 0.4, torch::kFloat64));
  const AisResult forward = ais(target.function(), target.dimension, sizes, options,
                                context.options(), generator, silent);
  EXPECT_NEAR(forward.log_normaliser, target.log_normaliser, 4 * forward.standard_error);
  const Tensor z = target.draw(40000, generator);
  const RaiseResult backward = raise(target.function(), z, sizes, options, generator, silent);
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

TEST(StepSizes, PilotRunReachesTheWantedAcceptance) {
  const Target target = gaussian_tilt(20, 8, 0.3, 0);  // narrower and narrower along the path
  AnnealOptions options = small_run(200, 100);
  options.pilot_steps = 200;
  const Found found = estimate(target, options, 10);
  const Tensor& sizes = found.step_sizes.sizes();
  EXPECT_LT(sizes[-1].item<double>(), 0.6 * sizes[0].item<double>());
  EXPECT_NEAR(found.forward.acceptance, 0.6, 0.05);
}

TEST(StepSizes, PilotRunFollowsATargetThatNarrowsQuickly) {
  const Target target = gaussian_tilt(20, 2000, 0.3, 0);
  AnnealOptions options = small_run(100, 100);
  options.pilot_steps = 50;
  EXPECT_NEAR(estimate(target, options, 10).forward.acceptance, 0.6, 0.2);
}

/// A funnel: the first coordinate u is N(0, 1), the others have the width exp(u). Chains from N(0,
/// I) seldom come into its neck, and pass on steps that no point there survives.
TEST(StepSizes, PilotRunBackFitsPointsThatForwardChainsMiss) {
  const int64_t d = 5;
  const LogRatioFunction log_ratio = differentiated([=](const Tensor& z) {
    const Tensor u = z.narrow(1, 0, 1), rest = z.narrow(1, 1, d - 1);
    return (0.5 * rest.square() * (1 - (-2 * u).exp()) - u).sum(1);
  });
  auto generator = context.generator("funnel");
  Progress silent;
  const AnnealOptions options = small_run(200, 200);
  const auto draw = [&] {
    const Tensor z = normal({200, d}, torch::kFloat64, generator);
    z.narrow(1, 0, 1).mul_(0.2).sub_(3);
    z.narrow(1, 1, d - 1).mul_(z.narrow(1, 0, 1).exp());
    return z;
  };
  const StepSizes there = pilot_run(log_ratio, d, options, context.options(), generator, silent);
  const StepSizes back = pilot_run_back(log_ratio, draw(), options, generator, silent);
  const Tensor z = draw(), truth = standard_normal_log_prob(z) + log_ratio(z).value;  // Z = 1
  const RaiseResult with_there = raise(log_ratio, z, there, options, generator, silent);
  const RaiseResult with_back = raise(log_ratio, z, back, options, generator, silent);
  const Tensor gap_there = with_there.values - truth, gap_back = with_back.values - truth;
  EXPECT_LT(with_there.acceptance, 0.3);
  EXPECT_GT(with_back.acceptance, 0.5);
  EXPECT_GT(weighted_mean(gap_back), weighted_mean(gap_there) + 1);
  EXPECT_LT(weighted_mean(gap_back), 4 * standard_error(gap_back));
}

TEST(StepSizes, TheStartOfThePilotRunAsksNothingOfTheRatio) {
  int64_t asked = 0;
  const LogRatioFunction flat = [&](const Tensor& z) -> Slope {
    ++asked;
    return {torch::zeros({z.size(0)}, z.options()), torch::zeros_like(z)};
  };
  AnnealOptions options = small_run(10, 1);
  options.pilot_steps = 3;
  auto generator = context.generator("pilot");
  Progress silent;
  pilot_run(flat, 2, options, torch::kFloat64, generator, silent);
  EXPECT_LT(asked, 100);  // 141 transitions would ask hundreds of times
}

TEST(StepSizes, AreInterpolated) {
  const StepSizes sizes(torch::tensor({1.0, 2.0, 4.0}, torch::kFloat64));
  EXPECT_DOUBLE_EQ(sizes.at(0).item<double>(), 1);
  EXPECT_DOUBLE_EQ(sizes.at(0.0625).item<double>(), 1.5);
  EXPECT_DOUBLE_EQ(sizes.at(0.25).item<double>(), 2);
  EXPECT_DOUBLE_EQ(sizes.at(0.5625).item<double>(), 3);
  EXPECT_DOUBLE_EQ(sizes.at(1).item<double>(), 4);
}

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
  const StepSizes sizes(torch::full({2}, 0.4, torch::kFloat64));
  EXPECT_FALSE(
      ais(target.function(), 1, sizes, small_run(10, 5), context.options(), generator, stopped)
          .finished);
}

}  // namespace
}  // namespace dre
