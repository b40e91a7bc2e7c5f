#include "dre/apps/pair_critic.h"

#include <gtest/gtest.h>

#include <cmath>

#include "dre/apps/mutual_information.h"
#include "tests/apps/numeric_sides.h"

namespace dre::testing {
namespace {

/// Two columns of correlation `rho` or, row by row with equal chances, of -rho: they are
/// uncorrelated, and all of their dependence is beyond a Gaussian.
struct Crossed {
  double rho = 0.9;

  Groups rows(int64_t n, at::Generator& generator) const {
    const Tensor x = normal({n, 1}, torch::kFloat64, generator);
    const Tensor noise = normal({n, 1}, torch::kFloat64, generator);
    const Tensor sign = 2 * (torch::arange(n) % 2).to(torch::kFloat64).unsqueeze(1) - 1;
    return {x, rho * sign * x + std::sqrt(1 - rho * rho) * noise, {"x"}, {"y"}, {}};
  }

  /// log p(x,y) / (p(x) p(y)), exactly: [n].
  Tensor log_ratio(const Tensor& x, const Tensor& y) const {
    const double rest = 1 - rho * rho;
    const Tensor common = -rho * rho * (x.square() + y.square()) / (2 * rest);
    const Tensor tilt = rho * x * y / rest;
    return (common + torch::logaddexp(tilt, -tilt) - std::log(2) - 0.5 * std::log(rest)).squeeze(1);
  }
};

FitOptions quick_pairs(int64_t steps) {
  FitOptions fit = MutualInformationOptions().fit;
  fit.train.steps = steps;
  fit.score.width = 32;
  fit.score.depth = 2;
  return fit;
}

double rms(const Tensor& x) { return x.square().mean().sqrt().item<double>(); }

TEST(PairCritic, StartsAtTheGaussianLogRatio) {
  auto generator = stream("pairs");
  const double rho = 0.6;
  const int64_t n = 20'000;
  const Tensor x = 3 + 2 * normal({n, 2}, torch::kFloat64, generator);
  const Tensor own = normal({n, 3}, torch::kFloat64, generator);
  Tensor y = own.clone();
  y.select(1, 0) = rho * (x.select(1, 1) - 3) / 2 + std::sqrt(1 - rho * rho) * own.select(1, 0);
  Progress silent;
  const PairFit fit = fit_pairs(x, y, {"a", "b"}, {"c", "d", "e"}, {}, quick_pairs(0), silent);
  const Tensor other = y.roll(1, 0);
  const Opinions found = fit.critic->opinions(x, other);
  EXPECT_TRUE(torch::equal(found.learned, found.reference));
  const Tensor u = (x.select(1, 1) - 3) / 2, v = other.select(1, 0);
  const double rest = 1 - rho * rho;
  const Tensor exact =
      (rho * u * v - 0.5 * rho * rho * (u.square() + v.square())) / rest - 0.5 * std::log(rest);
  EXPECT_LT(rms(found.learned - exact), 0.05);  // five parameters, each known to about 1/sqrt(n)
}

/// y = x + little noise: log r is a small difference of numbers of the size of 1/noise², and what
/// is learned must not be noise of float32.
TEST(PairCritic, ColumnsThatNearlyDecideEachOtherAreLeftToTheReference) {
  auto generator = stream("nearly equal");
  const double noise = 3e-4;
  const Tensor x = normal({1000, 1}, torch::kFloat64, generator);
  const Tensor y = x + noise * normal({1000, 1}, torch::kFloat64, generator);
  Progress silent;
  const PairFit fit = fit_pairs(x, y, {"x"}, {"y"}, {}, quick_pairs(60), silent);
  const Tensor exact = -std::log(noise) - 0.5 * ((y - x) / noise).square() +
                       0.5 * y.square() / (1 + noise * noise) + 0.5 * std::log1p(noise * noise);
  EXPECT_LT(rms(fit.critic->opinions(x, y).learned - exact.squeeze(1)), 0.5);
}

TEST(PairCritic, NothingDependsOnAColumnThatDoesNotVary) {
  auto generator = stream("constant");
  const Tensor x = torch::ones({300, 1}, torch::kFloat64);
  const Tensor y = normal({300, 2}, torch::kFloat64, generator);
  Progress silent;
  const PairFit fit = fit_pairs(x, y, {"x"}, {"y", "z"}, {}, quick_pairs(10), silent);
  EXPECT_EQ(fit.kept, 0);
  EXPECT_EQ(rms(fit.critic->opinions(x, y).learned), 0);
}

/// A column of which some folds see one value only.
TEST(PairCritic, ARareValueIsNoError) {
  auto generator = stream("rare");
  Tensor x = torch::zeros({300, 1}, torch::kFloat64);
  x[17][0] = 1;
  const Groups groups{x, normal({300, 1}, torch::kFloat64, generator), {"x"}, {"y"}, {}};
  MutualInformationOptions options;
  options.cross_fit.folds = 3;
  options.fit = quick_pairs(20);
  Progress silent;
  const Divergence found = mutual_information(groups, options, silent).information;
  EXPECT_LT(std::abs(found.value), 0.05);
}

/// x of four levels is y but for 3 % of the rows: with bare indicators one direction of the
/// reference hardly varied, and a few rows had log-ratios of hundreds of nats.
TEST(PairCritic, CategoriesThatNearlyDecideEachOther) {
  auto generator = stream("levels");
  const int64_t n = 600, levels = 4;
  const double same = 0.97;
  const auto draw = [&] { return at::randint(levels, {n}, generator, torch::kInt64); };
  const Tensor x = draw();
  const Tensor y = torch::where(uniform({n}, torch::kFloat64, generator) < same, x, draw());
  const auto indicators = [&](const Tensor& level) {
    return torch::one_hot(level, levels).to(torch::kFloat64).slice(1, 1);
  };
  const Groups groups{indicators(x), indicators(y), {"x1", "x2", "x3"}, {"y1", "y2", "y3"}, {}};
  MutualInformationOptions options;
  options.fit = quick_pairs(300);
  Progress silent;
  const Divergence found = mutual_information(groups, options, silent).information;
  const double other = (1 - same) / levels, stay = same + other;
  const double truth = std::log(levels) + stay * std::log(stay) + 3 * other * std::log(other);
  EXPECT_NEAR(found.value, truth, 0.25 * truth);
  // Within 3.9 standard errors: one draw of rows in twenty lies outside its 95 % interval.
  EXPECT_LE(found.low - (found.value - found.low), truth);
  EXPECT_GE(found.high + (found.high - found.value), truth);
  EXPECT_LT(found.high, 3);
}

TEST(PairCritic, LearnsWhatNoCorrelationShows) {
  auto generator = stream("crossed");
  const Crossed truth;
  const Groups seen = truth.rows(2000, generator), fresh = truth.rows(2000, generator);
  Progress silent;
  for (const char* reference : {"gaussian", "none"}) {
    SCOPED_TRACE(reference);
    FitOptions options = quick_pairs(400);
    options.reference = reference;
    const PairFit fit = fit_pairs(seen.x, seen.y, {"x"}, {"y"}, {}, options, silent);
    EXPECT_EQ(fit.kept, 1);
    const Tensor exact = truth.log_ratio(fresh.x, fresh.y);
    const Tensor found = fit.critic->opinions(fresh.x, fresh.y).learned;
    EXPECT_LT(rms(found - exact), 0.5 * rms(exact));
    EXPECT_NEAR(found.mean().item<double>(), exact.mean().item<double>(), 0.1);
  }
}

TEST(PairCritic, InformationOfUncorrelatedColumnsIsFoundAndThatOfIndependentOnesIsNot) {
  auto generator = stream("information of crossed");
  const Crossed pair;
  const Groups groups = pair.rows(1000, generator);
  MutualInformationOptions options;
  options.cross_fit.folds = 3;
  options.fit = quick_pairs(240);
  Progress silent;
  const Divergence found = mutual_information(groups, options, silent).information;
  const double truth = pair.log_ratio(groups.x, groups.y).mean().item<double>();
  EXPECT_NEAR(found.value, truth, 0.1 * truth + 3 * found.standard_error);
  EXPECT_GT(found.low, 0.5 * truth);
  EXPECT_GT(found.high, truth);

  const Groups apart{groups.x, groups.y.roll(1, 0), {"x"}, {"y"}, {}};
  const Divergence none = mutual_information(apart, options, silent).information;
  EXPECT_LT(none.value, 0.02);
  EXPECT_LT(none.low, 0.005);
}

}  // namespace
}  // namespace dre::testing
