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
Found estimate(const Target& target, Tilt& tilt, const AnnealOptions& options, int64_t points) {
  auto generator = context.generator("run");
  Progress silent;
  const Route route =
      pilot_run(tilt, target.dimension, options, context.options(), generator, silent);
  const Tensor z = target.draw(points, generator);
  const AisResult forward =
      ais(tilt, target.dimension, route, options, context.options(), generator, silent);
  const RaiseResult backward = raise(tilt, z, route, options, generator, silent);
  return {route, forward, backward, backward.values - target.log_density(z)};
}

Found estimate(const Target& target, const AnnealOptions& options, int64_t points) {
  PowerTilt tilt = target.tilt();
  return estimate(target, tilt, options, points);
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
  const Route route = even_route(0.4);
  PowerTilt tilt = target.tilt();
  const AisResult forward =
      ais(tilt, target.dimension, route, options, context.options(), generator, silent);
  EXPECT_NEAR(forward.log_normaliser, target.log_normaliser, 4 * forward.standard_error);
  const Tensor z = target.draw(40000, generator);
  const RaiseResult backward = raise(tilt, z, route, options, generator, silent);
  const Tensor weights = (backward.values - target.log_density(z)).exp();
  EXPECT_NEAR(weighted_mean(weights), 1, 4 * standard_error(weights));
}

/// Fast annealing shows which bound is which.
TEST_P(Annealing, FewStepsWidenTheBracket) {
  const Found fast = estimate(GetParam(), small_run(1000, 2), 1000);
  EXPECT_LT(fast.forward.log_weights.mean().item<double>(), GetParam().log_normaliser);
  EXPECT_LT(weighted_mean(fast.gap), -4 * standard_error(fast.gap));
}

/// From N(0, I) to N(m, s^2 I) times Z through N(β m, s^(2β) I): not powers of the ratio, and moved
/// by a force that is not quite the gradient.
class Travelling final : public Tilt {
 public:
  Travelling(double m, double s, double log_z) : m_(m), s_(s), log_z_(log_z) {}

  Tensor value(const Tensor& z, double beta) override {
    const double width = std::pow(s_, beta), d = static_cast<double>(z.size(1));
    return standard_normal_log_prob((z - beta * m_) / width) - d * std::log(width) -
           standard_normal_log_prob(z) + beta * log_z_;
  }
  Tensor force(const Tensor& z, double beta) override {
    return z - 0.9 * (z - beta * m_) / std::pow(s_, 2 * beta);
  }

 private:
  double m_, s_, log_z_;
};

TEST(AnnealingPaths, AnyPathBracketsTheTruth) {
  const double m = 0.8, s = 0.5, log_z = 3;
  const int64_t d = 4;
  const Target target{"travelling", d,
                      [=](const Tensor& z) {
                        return standard_normal_log_prob((z - m) / s) - d * std::log(s) + log_z -
                               standard_normal_log_prob(z);
                      },
                      log_z,
                      [=](int64_t rows, at::Generator& generator) {
                        return m + s * normal({rows, d}, torch::kFloat64, generator);
                      }};
  Travelling tilt(m, s, log_z);
  const auto [route, forward, backward, gap] = estimate(target, tilt, small_run(1000, 200), 1000);
  EXPECT_NEAR(forward.log_normaliser, log_z, 4 * forward.standard_error);
  EXPECT_LT(forward.standard_error, 0.05);
  EXPECT_LT(weighted_mean(gap), 4 * standard_error(gap));
  EXPECT_NEAR(weighted_mean(gap), 0, 0.1);
  EXPECT_NEAR(forward.acceptance, 0.6, 0.2);
}

INSTANTIATE_TEST_SUITE_P(Targets, Annealing, ::testing::ValuesIn(targets()),
                         [](const auto& info) { return info.param.name; });

TEST(AnnealingRuns, BlocksAndSeedsDecideNothingElse) {
  const Target target = mixture(2, 1.0, 0.6, -1);
  AnnealOptions options = small_run(50, 5);
  EXPECT_TRUE(torch::equal(estimate(target, options, 40).backward.values,
                           estimate(target, options, 40).backward.values));
  options.block = 7;
  const Tensor in_blocks = estimate(target, options, 40).backward.values;
  options.block = 40;
  const Tensor at_once = estimate(target, options, 40).backward.values;
  ASSERT_EQ(in_blocks.size(0), 40);
  // Row by row the same points with other noise along the way.
  const Tensor difference = in_blocks - at_once;
  EXPECT_NEAR(weighted_mean(difference), 0, 4 * standard_error(difference));
}

TEST(AnnealingRuns, AStopIsToldToTheCaller) {
  struct Stopped final : Progress {
    bool stop_requested() override { return true; }
  } stopped;
  const Target target = mixture(1, 1.2, 0.5, 2);
  auto generator = context.generator("run");
  const Route route = even_route(0.4);
  PowerTilt tilt = target.tilt();
  EXPECT_FALSE(
      ais(tilt, 1, route, small_run(10, 5), context.options(), generator, stopped).finished);
}

}  // namespace
}  // namespace dre
