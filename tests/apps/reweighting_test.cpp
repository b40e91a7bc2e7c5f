#include "dre/apps/reweighting.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/apps/numeric_sides.h"
#include "tests/support/stop_after.h"

namespace dre::testing {
namespace {

constexpr int64_t many = 4000;

/// N(shift, I) over N(0, I) in two columns, with the exact log r of the denominator's rows.
struct Shifted {
  Sides sides;
  Tensor log_ratio;
};

Shifted shifted(double shift, int64_t n = many) {
  auto generator = stream("shifted");
  const Tensor a = rows(n, 2, shift, generator), b = rows(n, 2, 0, generator);
  return {numeric_sides(a, b), shift * b.sum(1) - shift * shift};
}

std::optional<Measured> auc_of(const Shifted& world, const Tensor& log_ratio, Progress& progress) {
  const Sides& sides = world.sides;
  return auc_after_reweighting(sides.numerator, sides.denominator, log_ratio, sides.names,
                               reference_alone(1), many, progress);
}

TEST(Reweighting, ExactWeightsLeaveNothingToFind) {
  Progress silent;
  const Shifted world = shifted(0.5);
  const Measured found = auc_of(world, world.log_ratio, silent).value();
  EXPECT_NEAR(found.value, 0.5, 4 * found.standard_error);
  // 0.3 of the rows judge; weighted ones are worth exp(-|shift|^2) = 0.61 of them.
  const double n0 = 0.3 * many, n1 = 0.61 * n0;
  EXPECT_NEAR(found.standard_error, std::sqrt((n0 + n1) / (12 * n0 * n1)),
              0.1 * found.standard_error);
  EXPECT_TRUE(judge_reweighting(found).empty());
}

TEST(Reweighting, WeightsThatDoNothingLeaveTheWholeDifference) {
  Progress silent;
  const Shifted world = shifted(0.5);
  const Measured found = auc_of(world, torch::zeros({many}, torch::kFloat64), silent).value();
  // Phi(|shift| / sqrt(2)), |shift| = 0.5 sqrt(2).
  const double exact = 0.5 * std::erfc(-0.5 / std::sqrt(2.0));
  EXPECT_NEAR(found.value, exact, 4 * found.standard_error);
  ASSERT_EQ(judge_reweighting(found).size(), 1u);
  EXPECT_EQ(judge_reweighting(found)[0].code, "poor-reweighting");
}

TEST(Reweighting, OnlyASureDifferenceIsTold) {
  EXPECT_TRUE(judge_reweighting({0.62, 0.09}).empty());
  EXPECT_TRUE(judge_reweighting({0.55, 0.001}).empty());
  EXPECT_EQ(judge_reweighting({0.62, 0.03})[0].code, "poor-reweighting");
}

TEST(Reweighting, SaysNothingWithFewRowsOrWhenStopped) {
  Progress silent;
  const Shifted few = shifted(0.5, 60);
  EXPECT_TRUE(std::isnan(auc_of(few, few.log_ratio, silent).value().value));
  // Weights of all rows but one that are small, and that are zero.
  for (const double low : {-50.0, -800.0}) {
    Tensor one = torch::full({many}, low, torch::kFloat64);
    one[7] = 0;
    EXPECT_TRUE(std::isnan(auc_of(shifted(0.5), one, silent).value().value));
  }
  EXPECT_EQ(judge_reweighting({NAN, NAN})[0].code, "no-reweighting");
  const Shifted world = shifted(0.5);
  StopAfter at_once(0);
  EXPECT_FALSE(auc_after_reweighting(world.sides.numerator, world.sides.denominator,
                                     world.log_ratio, world.sides.names, small_network(1), many,
                                     at_once)
                   .has_value());
}

/// A column that varies in a few rows of the table varies in no part of it: that ends no job.
TEST(Reweighting, SaysNothingWhereAPartCannotBeFitted) {
  Progress silent;
  auto generator = stream("flat");
  const auto with_copy = [&](double offset) {
    const Tensor x = rows(many, 1, 0, generator);
    return torch::cat({x, x + offset}, 1);
  };
  const Sides sides = numeric_sides(with_copy(0), with_copy(0.01));
  const std::optional<Measured> found = auc_after_reweighting(
      sides.numerator, sides.denominator, torch::zeros({many}, torch::kFloat64), sides.names,
      reference_alone(1), many, silent);
  EXPECT_TRUE(std::isnan(found.value().value));
}

}  // namespace
}  // namespace dre::testing
