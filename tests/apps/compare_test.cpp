#include "dre/apps/compare.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>

#include "dre/apps/gate.h"
#include "dre/apps/mutual_information.h"
#include "dre/apps/support.h"
#include "dre/apps/weights.h"
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
  // Levels that are rarer on one side leave KL without an upper end, and no row outside.
  sides.own_levels.nothing_shared = false;
  const CompareResult rarer = compare(sides, options, silent);
  EXPECT_EQ(rarer.divergences.kl_numerator_denominator.value,
            before.divergences.kl_numerator_denominator.value);
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
    }
  }
  for (const auto& name : schema["properties"]["columns"]["items"]["required"])
    EXPECT_TRUE(json["columns"][0].contains(name)) << name;
}

TEST(Gates, ReadConditions) {
  CompareResult result;
  result.divergences.kl_numerator_denominator.value = 0.2;
  result.test.p_value = 0.03;
  result.divergences.chi_square.value = std::nan("");
  EXPECT_TRUE(Gate("kl > 0.1").fails(result));
  EXPECT_FALSE(Gate("kl > 0.2").fails(result));
  EXPECT_TRUE(Gate("kl >= 0.2").fails(result));
  EXPECT_TRUE(Gate("p_value < 0.05 and kl > 0.1").fails(result));
  EXPECT_FALSE(Gate("p_value < 0.01 and kl > 0.1").fails(result));
  EXPECT_TRUE(Gate("chi2 > 7").fails(result));  // not finite is beyond every bound
  const Tensor equal = torch::zeros({100}, torch::kFloat64);
  result.weights = check_weights(equal, torch::ones_like(equal), 0);
  EXPECT_TRUE(result.weights.reliable);
  EXPECT_FALSE(Gate("pareto_k > 0.7").fails(result));  // equal weights have no tail
  EXPECT_TRUE(Gate("kl>0.1 and p_value<=0.03").fails(result));
  EXPECT_EQ(Gate("kl > 0.1 and chi2 > 7").measured(result),
            "kl = 0.2, chi2 could not be computed, which counts as failed");
  result.apart = {"age"};  // a column that one side lacks fails everything
  EXPECT_TRUE(Gate("kl > 0.2").fails(result));
  expect_contains(Gate("kl > 0.2").measured(result), {"age"});
  for (const char* bad : {"", "kl", "kl >", "kl > x", "kl = 1", "kl > 1 or tv > 2", "kl > 1 and"})
    EXPECT_THROW(Gate{bad}, Error) << bad;
  expect_contains(message_of([] { Gate("k1 > 2"); }, Error::Kind::usage), {"k1", "kl_reverse"});
}

TEST(Weights, RecoverTheTargetMeanOfAColumnThatIsNotInTheTable) {
  auto generator = stream("weights");
  const int64_t n = 4000;
  const Tensor source = rows(n, 2, 0, generator), target = rows(n, 2, 0, generator);
  target.select(1, 0).mul_(0.8).add_(0.6);
  const auto outcome = [&](const Tensor& x) {
    return 2 * x.select(1, 0) + x.select(1, 0).square() + normal({n}, torch::kFloat64, generator);
  };
  const Tensor y = outcome(source), truth = outcome(target);
  WeightsOptions options;
  options.fit = reference_alone(0);
  Progress silent;
  const WeightsResult result = importance_weights(numeric_sides(target, source), options, silent);
  EXPECT_NEAR(result.weight.mean().item<double>(), 1, 1e-9);
  const Measured weighted{weighted_mean(y, result.weight), standard_error(y, result.weight)};
  const double error = std::hypot(weighted.standard_error, standard_error(truth));
  EXPECT_NEAR(weighted.value, truth.mean().item<double>(), 3 * error);
  EXPECT_GT(std::abs(y.mean().item<double>() - truth.mean().item<double>()), 10 * error);
}

TEST(Weights, RowsThatDoNotCountSpoilNothing) {
  auto generator = stream("weights");
  const Tensor target = rows(200, 2, 0.5, generator), source = rows(300, 2, 0, generator);
  Sides sides = numeric_sides(target, source);
  sides.denominator.weight = torch::ones({300}, torch::kFloat64);
  sides.denominator.weight.slice(0, 0, 5).zero_();
  WeightsOptions options;
  options.fit = reference_alone(0);
  Progress silent;
  const WeightsResult result = importance_weights(sides, options, silent);
  EXPECT_TRUE(result.weight.isfinite().all().item<bool>());
  // They may lie where no other row of the source does.
  sides.denominator.x.slice(0, 5) += 50;
  const WeightsResult far = importance_weights(sides, options, silent);
  EXPECT_TRUE(far.weight.isfinite().all().item<bool>());
  EXPECT_EQ(far.weight.slice(0, 0, 5).abs().max().item<double>(), 0);
  EXPECT_NEAR(far.weight.mean().item<double>(), 1, 1e-9);
}

/// With weights of their own, rows get their product with r: the written weights need nothing else.
TEST(Weights, ContainTheWeightsOfTheRows) {
  auto generator = stream("weighted rows");
  const int64_t n = 2000;
  const Tensor target = rows(n, 1, 0.5, generator), source = rows(n, 1, 0, generator);
  Sides sides = numeric_sides(target, source);
  // Weights that move the source to mean -0.4 before it is made to look like the target.
  const Tensor own = (-0.4 * source.select(1, 0)).exp();
  sides.denominator = make_samples(source, own, "the denominator");
  WeightsOptions options;
  options.fit = reference_alone(0);
  Progress silent;
  const Tensor weight = importance_weights(sides, options, silent).weight;
  EXPECT_NEAR(weight.mean().item<double>(), 1, 1e-9);
  EXPECT_NEAR(weighted_mean(source.select(1, 0), weight), 0.5,
              4 * standard_error(source.select(1, 0), weight));
}

TEST(Weights, ScalesAreAsNamed) {
  auto generator = stream("weights");
  const Sides sides = numeric_sides(rows(200, 2, 0.5, generator), rows(300, 2, 0, generator));
  WeightsOptions options;
  options.fit = reference_alone(0);
  options.smooth = false;
  Progress silent;
  options.normalize = "sum1";
  EXPECT_NEAR(importance_weights(sides, options, silent).weight.sum().item<double>(), 1, 1e-9);
  options.normalize = "none";
  const WeightsResult raw = importance_weights(sides, options, silent);
  EXPECT_TRUE(raw.weight.equal(raw.log_ratio.exp()));
  const Tensor folded = normalised_in_folds(raw.log_ratio, raw.fold, torch::ones({300}));
  for (int64_t k = 0; k < 5; ++k)
    EXPECT_NEAR(folded.masked_select(raw.fold == k).exp().mean().item<double>(), 1, 1e-9);
}

/// x and y of d columns each, of which the i-th ones have this correlation.
Groups correlated(int64_t n, int64_t d, double correlation, at::Generator& generator) {
  Groups groups;
  groups.x = normal({n, d}, torch::kFloat64, generator);
  groups.y = correlation * groups.x +
             std::sqrt(1 - correlation * correlation) * normal({n, d}, torch::kFloat64, generator);
  for (int64_t j = 0; j < d; ++j) {
    groups.x_names.push_back(text("x", j));
    groups.y_names.push_back(text("y", j));
  }
  return groups;
}

TEST(MutualInformation, OfGaussians) {
  auto generator = stream("information");
  const double correlation = 0.8, truth = -std::log(1 - correlation * correlation);
  const Groups groups = correlated(4000, 2, correlation, generator);
  for (const char* method : {"auto", "which-time"}) {
    SCOPED_TRACE(method);
    MutualInformationOptions options;
    options.fit = reference_alone(0);
    options.fit.method = method;
    Progress silent;
    const MutualInformation found = mutual_information(groups, options, silent);
    EXPECT_NEAR(found.information.value, truth, 4 * found.information.standard_error);
    EXPECT_LT(found.information.standard_error, 0.05 * truth);
    EXPECT_NEAR(found.pointwise.mean().item<double>(), found.information.value, 1e-9);
  }
}

/// A row is never its own partner, whatever the number of folds.
TEST(MutualInformation, DoesNotDependOnTheFolds) {
  auto generator = stream("many folds");
  const double correlation = 0.95, truth = -0.5 * std::log(1 - correlation * correlation);
  const Groups groups = correlated(1000, 1, correlation, generator);
  MutualInformationOptions options;
  options.fit = reference_alone(0);
  options.fit.method = "auto";
  options.cross_fit.folds = 50;
  Progress silent;
  const Divergence found = mutual_information(groups, options, silent).information;
  EXPECT_NEAR(found.value, truth, 3 * found.standard_error);
}

TEST(MutualInformation, MoreColumnsThanTheRowsCanCarryAreRefused) {
  auto generator = stream("wide");
  Groups groups;
  groups.x = normal({90, 10}, torch::kFloat64, generator);
  groups.y = normal({90, 10}, torch::kFloat64, generator);
  groups.x_names = groups.y_names = Strings(10, "a");
  Progress silent;
  expect_contains(message_of([&] { mutual_information(groups, {}, silent); }),
                  {"20 columns", "at least 105 rows, but there are 90", "fewer columns"});
}

TEST(MutualInformation, WhatOneGroupFixesIsTold) {
  auto generator = stream("fixed");
  const int64_t n = 500;
  const Tensor x = normal({n, 2}, torch::kFloat64, generator);
  const Tensor noise = normal({n, 1}, torch::kFloat64, generator);
  const Tensor sum = x.sum(1, true);
  EXPECT_TRUE(one_fixes_the_other(x, 2 * sum + 1));
  EXPECT_TRUE(one_fixes_the_other(x, torch::cat({noise, sum}, 1)));
  EXPECT_TRUE(one_fixes_the_other(torch::cat({noise, x}, 1), x.slice(1, 0, 1).exp()));
  EXPECT_FALSE(one_fixes_the_other(x, sum + 1e-3 * noise));
  EXPECT_FALSE(one_fixes_the_other(x, noise));
  // Two levels are two atoms: what they tell of each other is their entropy.
  const Tensor level = (noise > 0).to(torch::kFloat64);
  EXPECT_FALSE(one_fixes_the_other(level, 1 - level));
  EXPECT_FALSE(one_fixes_the_other(torch::zeros({n, 1}, torch::kFloat64), x));

  const Directory directory;
  std::string csv = "a,b,c\n";
  for (int i = 0; i < 60; ++i) csv += text(i * 7 % 60, ",", i * 7 % 60 * 3 + 1, ",", i % 2, "\n");
  GroupsOptions options;
  options.data = directory.write("t.csv", csv);
  const auto codes = [&](const char* x, const char* y) {
    options.x = {x};
    options.y = {y};
    Strings found;
    for (const auto& [code, message] : load_groups(options).warnings) found.push_back(code);
    return found;
  };
  EXPECT_EQ(codes("a", "b"), Strings{"no-bound"});
  EXPECT_EQ(codes("a", "c"), Strings{});
}

TEST(MutualInformation, GroupsAreNamedOrCounted) {
  const Directory directory;
  std::string csv = "a,b,c\n";
  for (int i = 0; i < 60; ++i) csv += text(i, ",", i % 2 ? "u" : "v", ",", i * i, "\n");
  GroupsOptions options;
  options.data = directory.write("t.csv", csv);
  const Groups counted = load_groups(options, 1, 2);
  EXPECT_EQ(counted.x_names, Strings{"a"});
  EXPECT_EQ(counted.y_names, (Strings{"b = v", "c"}));
  GroupsOptions headless;
  std::string numbers_alone;
  for (int i = 0; i < 12; ++i) numbers_alone += text(1.5 + i * 7 % 12, ",", i, ",", i % 2, "\n");
  headless.data = directory.write("h.csv", numbers_alone);
  const Groups numbers = load_groups(headless, 2, 1);
  EXPECT_EQ(numbers.x_names, (Strings{"x0", "x1"}));
  EXPECT_EQ(numbers.x[0][0].item<double>(), 1.5);
  EXPECT_EQ(numbers.y.size(0), 12);
  headless.x = {"x0"};
  headless.y = {"x1"};
  expect_contains(message_of([&] { load_groups(headless); }), {"first line holds numbers only"});
  options.x = {"c"};
  options.y = {"a"};
  EXPECT_EQ(load_groups(options).x_names, Strings{"c"});
  auto twice = options, unknown = options;
  twice.x = {"c", "c"};
  expect_contains(message_of([&] { load_groups(twice); }, Error::Kind::usage),
                  {"--x names column 'c' twice"});
  unknown.categorical = {"b"};
  expect_contains(message_of([&] { load_groups(unknown); }, Error::Kind::usage),
                  {"--categorical names column 'b'", "they hold c, a"});
  options.y = {};
  expect_contains(message_of([&] { load_groups(options); }, Error::Kind::usage), {"--x and --y"});
  options.x = {};
  expect_contains(message_of([&] { load_groups(options, 2, 2); }),
                  {"has 3 columns", "4 are asked"});
}

}  // namespace
}  // namespace dre::testing
