#include "dre/apps/compare.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>

#include "dre/apps/support.h"
#include "dre/numeric/statistics.h"
#include "tests/apps/numeric_sides.h"
#include "tests/data/files.h"

namespace dre::testing {
namespace {

CompareResult small_comparison() {
  auto generator = stream("compare");
  Tensor a = rows(400, 3, 0, generator), b = rows(400, 3, 0, generator);
  a.select(1, 1).add_(1.0);
  const Sides sides = numeric_sides(a, b);
  CompareOptions options;
  options.fit = reference_alone(3);
  options.permutations = 199;
  Progress silent;
  return compare(sides, options, silent);
}

TEST(Compare, TellsWhatDiffersAndThatReweightingHelps) {
  const CompareResult result = small_comparison();
  EXPECT_LT(result.test.p_value, 0.01);
  ASSERT_EQ(result.columns.size(), 3);
  EXPECT_EQ(result.columns[0].name, "x1");
  EXPECT_NEAR(result.columns[0].shift, 1, 0.2);
  EXPECT_LT(std::abs(result.columns[0].shift_reweighted), 0.3);
  EXPECT_GT(result.columns[0].joint, 10 * std::abs(result.columns[1].joint));
  EXPECT_NEAR(result.separation.before, 0.76, 0.05);
  EXPECT_LT(std::abs(result.separation.after.value - 0.5), 0.1);
  expect_contains(result.verdict, {"differ", "x1"});
}

/// Twenty rows of a thousand are far away, which moves the mean log-ratio of held-out rows hardly.
TEST(Compare, RowsBeyondTheRangeAreADifferenceByThemselves) {
  auto generator = stream("beyond");
  Tensor a = rows(1000, 2, 0, generator);
  const Tensor b = rows(1000, 2, 0, generator);
  a.slice(0, 0, 20).select(1, 0) = 1000 + torch::arange(20, torch::kFloat64);
  CompareOptions options;
  options.fit = reference_alone(3);
  options.permutations = 199;
  Progress silent;
  Sides sides = numeric_sides(a, b);
  const CompareResult found = compare(sides, options, silent);
  EXPECT_EQ(found.test.p_value, chance_of_beyond);
  expect_contains(found.verdict, {"differ", "p < 0.001"});
  expect_contains(p_value_source(found), {"bound on the chance that so many rows are beyond"});
  // Seven rows that are there three times are seven.
  const Tensor equal = rows(400, 2, 0, generator);
  Tensor thrice = equal.clone();
  thrice.slice(0, 0, 7).select(1, 0) += 20;
  const Sides copied = numeric_sides(thrice.repeat({3, 1}), equal.repeat({3, 1}).flip(0));
  EXPECT_TRUE(
      beyond_range(copied.numerator, copied.denominator, copied.encoding).any().item<bool>());
  EXPECT_NE(compare(copied, options, silent).test.p_value, chance_of_beyond);
  // Of rows with weights chance says nothing.
  sides.numerator.weight = 1 + uniform({1000}, torch::kFloat64, generator);
  EXPECT_GT(compare(sides, options, silent).test.p_value, chance_of_beyond);
}

/// Rows beyond the other side's range count as outside where chance does not explain them, and then
/// nobody can reweight the one side to the other.
TEST(Compare, RowsBeyondTheRangeOfTheOtherSideAreOutside) {
  auto generator = stream("range");
  const Tensor a = uniform({400, 2}, torch::kFloat64, generator);
  const Tensor b = uniform({400, 2}, torch::kFloat64, generator);
  const auto compared = [&](double shift) {
    const Tensor moved = a.clone();
    moved.select(1, 0).add_(shift);
    CompareOptions options;
    options.fit = reference_alone(3);
    options.permutations = 199;
    Progress silent;
    return compare(numeric_sides(moved, b), options, silent);
  };
  const CompareResult same = compared(0), apart = compared(0.3);
  EXPECT_EQ(same.support.numerator_outside, 0);
  EXPECT_NEAR(apart.support.numerator_outside, 0.3, 0.08);
  EXPECT_NEAR(apart.support.denominator_outside, 0.3, 0.08);
  expect_contains(apart.verdict, {"p < 0.001", "cannot be reweighted"});
}

/// A category that one side never has makes KL from the other infinite, and not the reverse.
TEST(Compare, ALevelOfItsOwnMakesTheDivergenceInfinite) {
  auto generator = stream("levels");
  const Tensor x = rows(300, 1, 0, generator), y = rows(300, 1, 0, generator);
  Tensor a = torch::cat({x, torch::zeros({300, 1}, torch::kFloat64)}, 1);
  Tensor b = torch::cat({y, torch::zeros({300, 1}, torch::kFloat64)}, 1);
  a.slice(0, 0, 150).select(1, 1).fill_(1);
  Sides sides = numeric_sides(a, b);
  const RawColumn number{"x0", TypedColumn::Kind::number, 0, {}, false, false};
  const RawColumn city{"city", TypedColumn::Kind::category, 0, {"rome", "oslo"}, false, false};
  sides.encoding = Encoding({number, city}, {{0, EncodedColumn::Role::value, "", 0, "x0"},
                                             {1, EncodedColumn::Role::level, "oslo", 0, "oslo"}});
  CompareOptions options;
  options.fit = reference_alone(3);
  options.permutations = 199;
  Progress silent;
  const CompareResult result = compare(sides, options, silent);
  EXPECT_TRUE(std::isnan(result.divergences.kl_numerator_denominator.value));
  EXPECT_TRUE(std::isnan(result.divergences.chi_square.value));
  EXPECT_FALSE(std::isnan(result.divergences.kl_denominator_numerator.value));
  EXPECT_FALSE(std::isnan(result.divergences.total_variation.value));
  EXPECT_NEAR(result.support.numerator_outside, 0.5, 1e-9);
}

/// Levels that are pooled for being rare do not hide that the tables have none in common.
TEST(Compare, RareLevelsOfOneSideAreADifferenceThatTheModelDoesNotSee) {
  auto generator = stream("rare levels");
  Sides sides = numeric_sides(rows(300, 1, 0, generator), rows(300, 1, 0, generator));
  CompareOptions options;
  options.fit = reference_alone(3);
  options.permutations = 199;
  Progress silent;
  const CompareResult before = compare(sides, options, silent);
  ASSERT_GT(before.test.p_value, 0.05);
  sides.own_levels = {{"zip"}, 0.8, 0.3, true, 2};
  const CompareResult after = compare(sides, options, silent);
  expect_contains(after.verdict, {"differ almost completely", "p < 0.001", "rare levels of zip"});
  EXPECT_EQ(after.divergences.total_variation.value, 0.8);
  EXPECT_EQ(after.divergences.total_variation.high, 1);
  const double both = 0.5 * (0.2 + 0.7);
  const double js =
      0.5 * (1.1 * std::log(2) + 0.2 * std::log(0.2 / both) + 0.7 * std::log(0.7 / both));
  EXPECT_NEAR(after.divergences.jensen_shannon.value, js, 1e-12);
  EXPECT_TRUE(std::isnan(after.divergences.kl_numerator_denominator.value));
  EXPECT_TRUE(std::isnan(after.divergences.kl_denominator_numerator.value));
  EXPECT_EQ(after.support.numerator_outside, 0.8);
  EXPECT_EQ(after.support.denominator_outside, 0.3);
  EXPECT_EQ(after.test.p_value, 2e-4);
  expect_contains(p_value_source(after), {"zip"});
  expect_contains(p_value_source(before), {"permutation of 300 rows"});
  // Levels that are rarer on one side leave KL without an upper end, and no row outside; it is
  // twice the square of the total variation at least.
  sides.own_levels.nothing_shared = false;
  const CompareResult rarer = compare(sides, options, silent);
  EXPECT_NEAR(rarer.divergences.kl_numerator_denominator.value, 2 * 0.8 * 0.8, 1e-12);
  EXPECT_TRUE(std::isinf(rarer.divergences.kl_numerator_denominator.high));
  EXPECT_EQ(rarer.support.numerator_outside, before.support.numerator_outside);
}

/// Narrow intervals are no reason to find differences everywhere.
TEST(Compare, TheVerdictDoesNotHangOnTheLevelOfTheIntervals) {
  auto generator = stream("level");
  const Sides sides = numeric_sides(rows(200, 1, 0, generator), rows(200, 1, 0, generator));
  CompareOptions options;
  options.fit = reference_alone(3);
  options.permutations = 199;
  options.level = 0.05;
  Progress silent;
  const CompareResult result = compare(sides, options, silent);
  ASSERT_GT(result.test.p_value, 0.05);
  ASSERT_LT(result.test.p_value, 0.95);
  expect_contains(result.verdict, {"No difference found"});
}

TEST(Compare, JsonHasAllThatTheSchemaAsksFor) {
  std::ifstream file(text(DRE_SOURCE, "/docs/compare.schema.json"));
  const auto schema = nlohmann::json::parse(file);
  const auto json = to_json(small_comparison());
  EXPECT_EQ(json["schema_version"], schema["properties"]["schema_version"]["const"]);
  int64_t inner_names = 0;
  for (const auto& name : schema["required"]) {
    if (name == "seconds" || name == "dre_version") continue;  // the tool adds them
    ASSERT_TRUE(json.contains(name)) << name;
    const auto& part = schema["properties"][name.get<std::string>()];
    const auto& form = part.contains("$ref") && part["$ref"] == "#/$defs/divergence"
                           ? schema["$defs"]["divergence"]
                       : part.contains("$ref") ? schema["$defs"]["weights"]
                                               : part;
    for (const auto& inner : form.value("required", nlohmann::json::array())) {
      EXPECT_TRUE(json[name.get<std::string>()].contains(inner)) << name << "." << inner;
      ++inner_names;
    }
  }
  EXPECT_GT(inner_names, 0);
  const auto& of_columns = schema["properties"]["columns"]["items"]["required"];
  EXPECT_FALSE(of_columns.empty());
  for (const auto& name : of_columns) EXPECT_TRUE(json["columns"][0].contains(name)) << name;
}

}  // namespace
}  // namespace dre::testing
