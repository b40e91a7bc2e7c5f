#include "dre/apps/fit_diagnostics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/apps/numeric_sides.h"
#include "tests/support/stop_after.h"

namespace dre::testing {
namespace {

/// Squares, the numerator's moved to the right by `shift`.
Sides squares(double shift) {
  auto generator = stream("range");
  const Tensor a = uniform({2000, 2}, torch::kFloat64, generator);
  const Tensor b = uniform({2000, 2}, torch::kFloat64, generator);
  a.select(1, 0).add_(shift);
  return numeric_sides(a, b);
}

FitResult fitted(const Sides& sides) {
  Progress silent;
  return fit(sides.numerator, sides.denominator, sides.names, reference_alone(3), silent);
}

int64_t count(const Diagnostics& found, const std::string& code) {
  return std::count_if(found.warnings.begin(), found.warnings.end(),
                       [&](const Warning& warning) { return warning.code == code; });
}

TEST(FitDiagnostics, TellOfRowsWithoutACounterpart) {
  const Sides sides = squares(0.3);
  Progress silent;
  const Diagnostics found = diagnose_fit(fitted(sides), sides, reference_alone(3), silent);
  // 400 rows are held out; their share has an error of 0.023.
  EXPECT_NEAR(found.support->numerator_outside, 0.3, 4 * 0.023);
  EXPECT_NEAR(found.support->denominator_outside, 0.3, 4 * 0.023);
  EXPECT_EQ(count(found, "little-support"), 2);
  // No weights reach those rows: the true ratio's mean is as much below 1.
  EXPECT_EQ(found.denominator.least_mean, 1 - found.support->numerator_outside);
  EXPECT_EQ(found.numerator.least_mean, 1 - found.support->denominator_outside);
  EXPECT_EQ(to_json(found)["outside"]["numerator"], found.support->numerator_outside);
}

/// However few of them are held out, a fifth here: all rows are counted.
TEST(FitDiagnostics, CountRowsWithoutACounterpartAmongAllRows) {
  Sides sides = squares(0);
  Tensor x = sides.numerator.x.clone();
  x.slice(0, 0, 30).add_(300);
  sides.numerator = make_samples(x, {}, "the numerator");
  Progress silent;
  const Diagnostics found = diagnose_fit(fitted(sides), sides, reference_alone(3), silent);
  EXPECT_GE(found.support->numerator_outside, 30 / 2000.0);
  EXPECT_EQ(found.support->denominator_outside, 0);
  EXPECT_EQ(count(found, "little-support"), 1);
}

/// z = x + y on one side, with few exceptions on the other: one KL is infinite, and whatever a
/// model extrapolates, it is not told.
TEST(FitDiagnostics, KlWithoutABoundIsNoNumber) {
  auto generator = stream("rule");
  const auto summed = [&] {
    const Tensor xy = normal({2000, 2}, torch::kFloat64, generator);
    return torch::cat({xy, xy.sum(1, true)}, 1);
  };
  const Tensor keeps = summed(), breaks = summed();
  breaks.select(1, 2).slice(0, 0, 400).add_(1);
  const Sides sides = numeric_sides(keeps, breaks);
  Progress silent;
  const Diagnostics found = diagnose_fit(fitted(sides), sides, reference_alone(3), silent);
  EXPECT_TRUE(std::isfinite(found.kl_numerator_denominator.value));
  EXPECT_TRUE(std::isnan(found.kl_denominator_numerator.value));
  const auto json = nlohmann::json::parse(to_json(found).dump());
  EXPECT_TRUE(json["kl_denominator_numerator"]["value"].is_null());
}

/// They are pooled, so that no sample shows them.
TEST(FitDiagnostics, RareLevelsOfOneSideHaveNoCounterpart) {
  Sides sides = squares(0);
  sides.own_levels = {{"id"}, 0.6, 0.7, true, 2};
  Progress silent;
  const Diagnostics found = diagnose_fit(fitted(sides), sides, reference_alone(3), silent);
  EXPECT_TRUE(std::isnan(found.kl_numerator_denominator.value));
  EXPECT_TRUE(std::isnan(found.kl_denominator_numerator.value));
  EXPECT_EQ(found.support->numerator_outside, 0.6);
  EXPECT_EQ(found.support->denominator_outside, 0.7);
  EXPECT_NEAR(found.denominator.least_mean, 0.4, 1e-12);
  EXPECT_EQ(count(found, "not-normalised"), 0);
  EXPECT_EQ(count(found, "little-support"), 2);
}

/// A column that tells all rows apart is left out, and all that is told is about the others.
TEST(FitDiagnostics, KlIsThatOfTheColumnsWhichAreUsed) {
  Sides sides = squares(0);
  sides.apart = {"version"};
  Progress silent;
  const Diagnostics found = diagnose_fit(fitted(sides), sides, reference_alone(3), silent);
  EXPECT_TRUE(std::isfinite(found.kl_numerator_denominator.value));
  EXPECT_TRUE(std::isfinite(found.kl_denominator_numerator.value));
}

TEST(FitDiagnostics, TellWhetherReweightingWorks) {
  const Sides sides = squares(0);
  Progress silent;
  const Diagnostics found = diagnose_fit(fitted(sides), sides, reference_alone(3), silent);
  const Measured auc = found.reweighted_auc.value();
  EXPECT_NEAR(auc.value, 0.5, 4 * auc.standard_error);
  EXPECT_EQ(found.support->numerator_outside, 0);
  EXPECT_TRUE(found.warnings.empty());
  EXPECT_EQ(to_json(found)["auc_after_reweighting"]["value"], auc.value);
}

/// Rows of weight 0 do not count, whatever they hold.
TEST(FitDiagnostics, LeaveOutRowsWithoutWeight) {
  Sides sides = squares(0);
  Tensor weight = torch::ones({2000}, torch::kFloat64);
  weight.slice(0, 0, 1000).zero_();
  Tensor x = sides.numerator.x.clone();
  x.slice(0, 0, 1000).add_(50);
  sides.numerator = make_samples(x, weight, "the numerator");
  Progress silent;
  const Diagnostics found = diagnose_fit(fitted(sides), sides, reference_alone(3), silent);
  EXPECT_EQ(found.support->numerator_outside, 0);
  const Measured auc = found.reweighted_auc.value();
  EXPECT_NEAR(auc.value, 0.5, 4 * auc.standard_error);
}

TEST(FitDiagnostics, AStopLeavesTheFreshClassifierOut) {
  const Sides sides = squares(0.1);
  StopAfter at_once(0);
  const Diagnostics found = diagnose_fit(fitted(sides), sides, reference_alone(3), at_once);
  EXPECT_FALSE(found.reweighted_auc.has_value());
  EXPECT_TRUE(found.support.has_value());
  EXPECT_FALSE(to_json(found).contains("auc_after_reweighting"));
}

}  // namespace
}  // namespace dre::testing
