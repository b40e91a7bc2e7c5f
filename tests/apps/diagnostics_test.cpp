#include "dre/apps/diagnostics.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/data/files.h"

namespace dre::testing {
namespace {

/// N(shift, I) over N(0, I) in two columns, and an estimator that knows nothing but the moments.
struct World {
  Samples numerator, denominator;
  Estimator estimator;
};

Samples normal_samples(int64_t rows, double mean, uint64_t seed) {
  auto generator = Context{torch::kCPU, torch::kFloat64, seed}.generator("rows");
  return make_samples(mean + normal({rows, 2}, torch::kFloat64, generator));
}

World make_world(double shift, int64_t rows = 4000) {
  const Samples a = normal_samples(rows, shift, 1), b = normal_samples(rows, 0, 2);
  Coordinates coordinates = Coordinates::fit(a, b, {"x", "y"}, {});
  const Moments& m = coordinates.basis().moments();
  const GaussianEnds ends{m.mean0, m.variance0, m.mean1, m.variance1};
  return {a, b, Estimator(std::move(coordinates), ends, true, {torch::kCPU, torch::kFloat64, 0})};
}

TEST(Diagnostics, AgreeWithTheTruthForGaussians) {
  const World world = make_world(0.5);
  const Diagnostics found = diagnose(world.estimator, world.numerator, world.denominator);
  // KL = |m|^2 / 2 = 0.25 both ways; the moments are estimated from the same rows, which about
  // doubles the error of the mean.
  for (const Measured& kl : {found.kl_numerator_denominator, found.kl_denominator_numerator}) {
    EXPECT_NEAR(kl.value, 0.25, 8 * kl.standard_error);
    // The standard deviation of log r is |m|.
    EXPECT_NEAR(kl.standard_error, std::sqrt(0.5 / 4000), 0.1 * kl.standard_error);
  }
  for (const WeightCheck& check : {found.denominator, found.numerator}) {
    EXPECT_NEAR(check.mean.value, 1, 5 * check.mean.standard_error);
    // E[w^2] = exp(|m|^2), so Kish's share of rows is exp(-|m|^2) = 0.61.
    EXPECT_NEAR(check.effective_rows / 4000, std::exp(-0.5), 0.05);
    EXPECT_LT(check.pareto_k, check.pareto_threshold);
    EXPECT_TRUE(check.reliable);
  }
  EXPECT_TRUE(found.warnings.empty());
  EXPECT_TRUE(found.paths.empty());
}

/// However sure, a mean that is off by less than 1 % harms nobody.
TEST(Diagnostics, OnlyAHarmfulMeanIsTold) {
  const auto codes = [](double mean) {
    WeightCheck check;
    check.mean = {mean, 5e-4};
    check.pareto_threshold = 0.7;
    check.reliable = true;
    return judge_weights(check, "r", "denominator").size();
  };
  EXPECT_EQ(codes(1.005), 0u);
  EXPECT_EQ(codes(0.995), 0u);
  EXPECT_EQ(codes(1.02), 1u);
  EXPECT_EQ(codes(0.98), 1u);
}

/// Where a quarter of the other side's rows have no counterpart, r cannot reach them; nor is it
/// sure that so many have none.
TEST(Diagnostics, AMeanBelowOneIsRightWhereRowsHaveNoCounterpart) {
  const auto told = [](double mean) {
    WeightCheck check;
    check.mean = {mean, 5e-4};
    check.least_mean = 0.75;
    check.pareto_threshold = 0.7;
    check.reliable = true;
    return judge_weights(check, "r", "denominator");
  };
  EXPECT_TRUE(told(0.75).empty());
  EXPECT_TRUE(told(0.9).empty());
  EXPECT_EQ(told(1.02).size(), 1u);
  ASSERT_EQ(told(0.7).size(), 1u);
  EXPECT_NE(told(0.7)[0].message.find("should be 0.75"), std::string::npos);
}

/// The limit is lower in small tables.
TEST(Diagnostics, AHeavyTailIsToldByTheLimitOfSoManyRows) {
  const auto codes = [](double k, double threshold, double effective_rows = 30) {
    WeightCheck check;
    check.mean = {1, 0.1};
    check.rows = 100;
    check.effective_rows = effective_rows;
    check.pareto_k = k;
    check.pareto_threshold = threshold;
    std::vector<std::string> found;
    for (const auto& warning : judge_weights(check, "r", "denominator"))
      found.push_back(warning.code);
    return found;
  };
  EXPECT_TRUE(codes(0.6, 0.65).empty());
  EXPECT_EQ(codes(0.6, 0.57), std::vector<std::string>{"heavy-weights"});
  EXPECT_TRUE(codes(0.6, 0.57, 98).empty());  // nearly equal: nothing hangs on their tail
}

TEST(Diagnostics, AWrongScaleOfTheRatioIsNoticed) {
  World world = make_world(0.5);
  Member member = world.estimator.make_member("nce", {}, {});
  member.correction = 0.5;  // the untrained network adds nothing, the correction makes r 1.65 r
  world.estimator.add(std::move(member));
  const Diagnostics found = diagnose(world.estimator, world.numerator, world.denominator);
  EXPECT_NEAR(found.denominator.mean.value, std::exp(0.5), 0.15);
  EXPECT_NEAR(found.numerator.mean.value, std::exp(-0.5), 0.06);
  ASSERT_EQ(found.warnings.size(), 2u);
  EXPECT_EQ(found.warnings[0].code, "not-normalised");
}

/// Rows that a sample misses could only have added to the mean: above 1 it speaks even where the
/// sides are so far apart that nothing is said of one below.
TEST(Diagnostics, AMeanAboveOneIsBelievedWhateverTheDivergence) {
  const Tensor log_weight = torch::linspace(-0.3, 0.3, 200, torch::kFloat64);
  const Tensor even = torch::ones_like(log_weight);
  const WeightCheck above = check_weights(log_weight + 0.5, even, 5);
  EXPECT_TRUE(above.reliable);
  ASSERT_EQ(judge_weights(above, "r", "denominator").size(), 1U);
  const WeightCheck below = check_weights(log_weight - 0.5, even, 5);
  EXPECT_FALSE(below.reliable);
  EXPECT_TRUE(judge_weights(below, "r", "denominator").empty());
}

TEST(Diagnostics, SidesFarApartAreMarkedAndNothingOverflows) {
  const World world = make_world(40, 400);
  const Diagnostics found = diagnose(world.estimator, world.numerator, world.denominator);
  EXPECT_NEAR(found.kl_numerator_denominator.value, 1600, 200);
  EXPECT_FALSE(found.denominator.reliable);
  EXPECT_FALSE(found.numerator.reliable);
  EXPECT_TRUE(std::isfinite(found.denominator.effective_rows));
  // What is not finite is null, and the text stays JSON.
  Diagnostics tails = found;
  tails.denominator.pareto_k = -INFINITY;
  tails.numerator.pareto_k = NAN;
  const auto json = nlohmann::json::parse(to_json(tails).dump());
  EXPECT_TRUE(json.at("ratio_on_denominator").at("pareto_k").is_null());
  EXPECT_TRUE(json.at("inverse_ratio_on_numerator").at("pareto_k").is_null());
}

TEST(Diagnostics, WeightsCountAsRepeatedRows) {
  const World world = make_world(0.5, 400);
  const Tensor times = torch::ones({400}, torch::kInt64);
  times.slice(0, 0, 400, 3).fill_(3);
  times.slice(0, 1, 400, 3).fill_(0);
  const auto weighted = [&](const Samples& side) {
    return make_samples(side.x, times.to(torch::kFloat64));
  };
  const auto repeated = [&](const Samples& side) {
    return make_samples(side.x.repeat_interleave(times, 0));
  };
  const auto with = [&](auto change) {
    return diagnose(world.estimator, change(world.numerator), change(world.denominator));
  };
  const Diagnostics a = with(weighted), b = with(repeated);
  EXPECT_NEAR(a.kl_numerator_denominator.value, b.kl_numerator_denominator.value, 1e-12);
  EXPECT_NEAR(a.denominator.mean.value, b.denominator.mean.value, 1e-12);
  EXPECT_EQ(a.numerator.rows, 267);  // rows of weight 0 have no say
}

TEST(Diagnostics, FewRowsHaveNoTail) {
  const World world = make_world(0.5, 20);
  const Diagnostics found = diagnose(world.estimator, world.numerator, world.denominator);
  EXPECT_TRUE(std::isnan(found.denominator.pareto_k));
  EXPECT_FALSE(found.denominator.reliable);
  const auto written = nlohmann::json::parse(to_json(found).dump());
  EXPECT_TRUE(written["ratio_on_denominator"]["pareto_k"].is_null());
}

TEST(Diagnostics, PathsAreThoseThatTheMethodOffers) {
  const std::vector<std::pair<std::string, Names>> expected = {
      {"velocity", {"line", "flow"}}, {"joint", {"line"}}, {"nce", {}}, {"time", {}}};
  for (const auto& [method, paths] : expected) {
    SCOPED_TRACE(method);
    World world = make_world(0.5, 400);
    BridgeOptions bridge;
    bridge.bridge = "brownian";
    ScoreOptions small;
    small.width = 8;
    world.estimator.add(world.estimator.make_member(method, bridge, small));
    EXPECT_EQ(other_paths(world.estimator), paths);
    const Diagnostics found = diagnose(world.estimator, world.numerator, world.denominator);
    ASSERT_EQ(found.paths.size(), paths.size());
    const Tensor rows = world.numerator.x.slice(0, 0, 20);
    Tensor largest = torch::zeros({20}, torch::kFloat64);
    for (const auto& check : found.paths) {
      EXPECT_EQ(check.rows, 500);
      EXPECT_LE(check.root_mean_square, check.largest);
      const Tensor gap = world.estimator.log_ratio(rows, {check.path, {}}).log_ratio -
                         world.estimator.log_ratio(rows).log_ratio;
      largest = torch::maximum(largest, gap.abs());
    }
    EXPECT_TRUE(path_disagreement(world.estimator, rows).equal(largest));
    world.estimator.members()[0].weight = 0;
    EXPECT_EQ(other_paths(world.estimator), Names{});
  }
}

TEST(Diagnostics, ALogRatioThatIsNotFiniteIsANumericalError) {
  World world = make_world(0.5, 400);
  Member member = world.estimator.make_member("nce", {}, {});
  member.correction = std::numeric_limits<double>::infinity();
  world.estimator.add(std::move(member));
  expect_contains(message_of([&] { diagnose(world.estimator, world.numerator, world.denominator); },
                             Error::Kind::numerical),
                  {"not finite at 400 of 400 rows of the numerator"});
}

}  // namespace
}  // namespace dre::testing
