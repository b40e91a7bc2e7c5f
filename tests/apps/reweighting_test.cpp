#include "dre/apps/reweighting.h"

#include <gtest/gtest.h>

#include <cmath>

#include "dre/apps/fit_diagnostics.h"
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

std::optional<double> auc_of(const Shifted& world, const Tensor& log_ratio, Progress& progress) {
  const Sides& sides = world.sides;
  return auc_after_reweighting(sides.numerator, sides.denominator, log_ratio, sides.names,
                               reference_alone(1), many, progress);
}

/// The error of an AUC of two samples of n rows of one distribution: sqrt((2 n + 1) / (12 n^2)).
double error_of_auc(double n) { return std::sqrt((2 * n + 1) / (12 * n * n)); }

TEST(Reweighting, ExactWeightsLeaveNothingToFind) {
  Progress silent;
  const Shifted world = shifted(0.5);
  const double found = auc_of(world, world.log_ratio, silent).value();
  // Weighted rows are worth exp(-|shift|^2) = 0.61 of them; 0.3 of them judge.
  EXPECT_NEAR(found, 0.5, 4 * error_of_auc(0.3 * 0.61 * many));
  EXPECT_TRUE(judge_reweighting(found).empty());
}

TEST(Reweighting, WeightsThatDoNothingLeaveTheWholeDifference) {
  Progress silent;
  const Shifted world = shifted(0.5);
  const double found = auc_of(world, torch::zeros({many}, torch::kFloat64), silent).value();
  // Phi(|shift| / sqrt(2)), |shift| = 0.5 sqrt(2).
  const double exact = 0.5 * std::erfc(-0.5 / std::sqrt(2.0));
  EXPECT_NEAR(found, exact, 4 * error_of_auc(0.3 * many));
  ASSERT_EQ(judge_reweighting(found).size(), 1u);
  EXPECT_EQ(judge_reweighting(found)[0].code, "poor-reweighting");
}

TEST(Reweighting, SaysNothingWithFewRowsOrWhenStopped) {
  Progress silent;
  const Shifted few = shifted(0.5, 60);
  EXPECT_TRUE(std::isnan(auc_of(few, few.log_ratio, silent).value()));
  Tensor one = torch::full({many}, -50.0, torch::kFloat64);
  one[7] = 0;
  EXPECT_TRUE(std::isnan(auc_of(shifted(0.5), one, silent).value()));
  EXPECT_EQ(judge_reweighting(NAN)[0].code, "no-reweighting");
  const Shifted world = shifted(0.5);
  StopAfter at_once(0);
  EXPECT_FALSE(auc_after_reweighting(world.sides.numerator, world.sides.denominator,
                                     world.log_ratio, world.sides.names, small_network(1), many,
                                     at_once)
                   .has_value());
}

/// All parts of what a fit tells about itself, from rows of which 30 % lie beyond the other side.
TEST(FitDiagnostics, TellOfSupportAndReweighting) {
  auto generator = stream("range");
  const Tensor a = uniform({2000, 2}, torch::kFloat64, generator);
  const Tensor b = uniform({2000, 2}, torch::kFloat64, generator);
  a.select(1, 0).add_(0.3);
  const Sides sides = numeric_sides(a, b);
  const FitOptions options = reference_alone(3);
  Progress silent;
  const FitResult result = fit(sides.numerator, sides.denominator, sides.names, options, silent);
  const Diagnostics found = diagnose_fit(result, sides, options, silent);
  // 400 rows are held out; their share has an error of 0.023.
  EXPECT_NEAR(found.support->numerator_outside, 0.3, 4 * 0.023);
  EXPECT_NEAR(found.support->denominator_outside, 0.3, 4 * 0.023);
  EXPECT_GT(found.reweighted_auc.value(), 0.5);
  int64_t little_support = 0;
  for (const auto& warning : found.warnings) little_support += warning.code == "little-support";
  EXPECT_EQ(little_support, 2);
  const nlohmann::json json = to_json(found);
  EXPECT_EQ(json["outside"]["numerator"], found.support->numerator_outside);
  EXPECT_EQ(json["auc_after_reweighting"], found.reweighted_auc.value());
}

}  // namespace
}  // namespace dre::testing
