#include "dre/apps/compare.h"

#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>

#include "dre/apps/gate.h"
#include "dre/apps/mutual_information.h"
#include "dre/apps/weights.h"
#include "dre/numeric/statistics.h"
#include "tests/data/files.h"

namespace dre::testing {
namespace {

using Strings = std::vector<std::string>;

Tensor rows(int64_t n, int64_t d, double mean, at::Generator& generator) {
  return mean + normal({n, d}, torch::kFloat64, generator);
}

/// Columns x0, x1, ... of numbers.
Sides numeric_sides(const Tensor& numerator, const Tensor& denominator) {
  Strings names;
  for (int64_t j = 0; j < numerator.size(1); ++j) names.push_back(text("x", j));
  Sides sides;
  sides.numerator = make_samples(numerator);
  sides.denominator = make_samples(denominator);
  sides.encoding = Encoding(names);
  sides.names = names;
  sides.description = {{"numerator", {{"file", "a"}, {"rows", numerator.size(0)}}},
                       {"denominator", {{"file", "b"}, {"rows", denominator.size(0)}}},
                       {"columns", names},
                       {"dropped_columns", Strings{}}};
  return sides;
}

/// The reference alone: exact for Gaussian sides, and a fit takes milliseconds.
FitOptions reference_alone(int64_t seed) {
  FitOptions fit = quick_fit();
  fit.train.steps = 0;
  fit.seed = seed;
  return fit;
}

at::Generator stream(const std::string& name, uint64_t seed = 0) {
  return Context{torch::kCPU, torch::kFloat64, seed}.generator(name);
}

TEST(CrossFit, EveryRowIsRatedByAModelThatDidNotSeeIt) {
  auto generator = stream("cross-fit");
  const Tensor a = rows(101, 2, 0.5, generator), b = rows(90, 2, 0, generator);
  const Sides sides = numeric_sides(a, b);
  CrossFitOptions options;
  options.folds = 3;
  Progress silent;
  const CrossFit rated = cross_fit(sides.numerator, sides.denominator, sides.names, options,
                                   reference_alone(1), silent);
  ASSERT_EQ(rated.fits.size(), 3);
  for (int64_t k = 0; k < 3; ++k) {
    const Tensor mine = (rated.numerator.fold == k).nonzero().squeeze(1);
    EXPECT_NEAR(static_cast<double>(mine.size(0)), 101.0 / 3, 1);
    EXPECT_TRUE(rated.fits[static_cast<size_t>(k)]
                    .estimator.log_ratio(a.index_select(0, mine))
                    .log_ratio.equal(rated.numerator.log_ratio.index_select(0, mine)));
  }
  // The same seed gives the same numbers, whatever the number of threads.
  const int threads = at::get_num_threads();
  at::set_num_threads(3);
  const CrossFit again = cross_fit(sides.numerator, sides.denominator, sides.names, options,
                                   reference_alone(1), silent);
  at::set_num_threads(threads);
  EXPECT_TRUE(again.denominator.log_ratio.equal(rated.denominator.log_ratio));
}

TEST(Divergences, AreThoseOfTheExactRatio) {
  // N(m, 2m) against N(-m, 2m) has log r = x, KL = m both ways and chi2 = exp(2m) - 1.
  auto generator = stream("divergence");
  const double m = 0.4;
  const int64_t n = 50000;
  const auto draw = [&](double mean) {
    return mean + std::sqrt(2 * m) * normal({n}, torch::kFloat64, generator);
  };
  const TwoScores f{draw(m), {}, draw(-m), {}};
  const Tensor fold = torch::arange(n) % 5;
  const Divergences found = measure_divergences(f, fold, fold, true, 0.95);
  const auto near = [](const Divergence& one, double truth) {
    EXPECT_NEAR(one.value, truth, 4 * one.standard_error);
    EXPECT_LT(one.standard_error, 0.05 * truth);
  };
  near(found.kl_numerator_denominator, m);
  near(found.kl_denominator_numerator, m);
  near(found.total_variation, std::erf(std::sqrt(m) / 2));
  near(found.chi_square, std::exp(2 * m) - 1);
  EXPECT_GT(found.jensen_shannon.value, 0);
}

TEST(Divergences, IntervalsCoverTheTruthThroughRefitting) {
  // Gaussian sides, refitted in every fold; 90 % intervals of 60 data sets.
  const double shift = 0.6;
  const int64_t d = 3, n = 400, seeds = 60;
  const double kl = d * shift * shift / 2;
  const double tv = std::erf(std::sqrt(2 * kl) / (2 * std::sqrt(2.0)));
  int covered_kl = 0, covered_tv = 0;
  for (int64_t seed = 0; seed < seeds; ++seed) {
    auto generator = stream("coverage", static_cast<uint64_t>(seed));
    const Tensor a = rows(n, d, shift, generator), b = rows(n, d, 0, generator);
    const Sides sides = numeric_sides(a, b);
    Progress silent;
    const CrossFit rated = cross_fit(sides.numerator, sides.denominator, sides.names, {},
                                     reference_alone(seed), silent);
    const Divergences found =
        measure_divergences({rated.numerator.log_ratio, {}, rated.denominator.log_ratio, {}},
                            rated.numerator.fold, rated.denominator.fold, false, 0.9);
    const auto covers = [](const Divergence& one, double truth) {
      return one.low <= truth && truth <= one.high;
    };
    covered_kl += covers(found.kl_numerator_denominator, kl);
    covered_tv += covers(found.total_variation, tv);
  }
  EXPECT_GE(covered_kl, 48);  // 80 %
  EXPECT_GE(covered_tv, 48);
}

double distance_from_uniform(std::vector<double> p) {
  std::sort(p.begin(), p.end());
  double distance = 0;
  const auto n = static_cast<double>(p.size());
  for (size_t i = 0; i < p.size(); ++i)
    distance = std::max(
        {distance, (static_cast<double>(i) + 1) / n - p[i], p[i] - static_cast<double>(i) / n});
  return distance;
}

TEST(TwoSampleTest, PValuesOfEqualSidesAreUniform) {
  std::vector<double> p_values, of_ties;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    auto generator = stream("null", seed);
    const Sides sides = numeric_sides(rows(60, 2, 0, generator), rows(50, 2, 0, generator));
    Progress silent;
    const FitOptions fit = reference_alone(static_cast<int64_t>(seed));
    p_values.push_back(
        two_sample_test(sides.numerator, sides.denominator, sides.names, fit, 1000, 199, silent)
            .p_value);
    const Tensor equal = torch::zeros({20}, torch::kFloat64);
    of_ties.push_back(permutation_test({equal, {}, equal, {}}, 19, generator).p_value);
  }
  const double critical = 1.628 / std::sqrt(100.0);  // Kolmogorov-Smirnov at 1 %
  EXPECT_LT(distance_from_uniform(p_values), critical);
  EXPECT_LT(distance_from_uniform(of_ties), critical);
}

TEST(TwoSampleTest, FindsADifference) {
  auto generator = stream("shift");
  const Sides sides = numeric_sides(rows(400, 2, 0.5, generator), rows(400, 2, 0, generator));
  Progress silent;
  EXPECT_LT(two_sample_test(sides.numerator, sides.denominator, sides.names, reference_alone(0),
                            1000, 199, silent)
                .p_value,
            0.01);
}

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
  EXPECT_LT(std::abs(result.separation.after - 0.5), 0.1);
  expect_contains(result.verdict, {"differ", "x1"});
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

TEST(MutualInformation, OfGaussians) {
  auto generator = stream("information");
  const int64_t n = 4000;
  const double correlation = 0.8;
  Groups groups;
  groups.x = normal({n, 2}, torch::kFloat64, generator);
  groups.y = correlation * groups.x +
             std::sqrt(1 - correlation * correlation) * normal({n, 2}, torch::kFloat64, generator);
  groups.x_names = {"a", "b"};
  groups.y_names = {"c", "d"};
  MutualInformationOptions options;
  options.fit = reference_alone(0);
  Progress silent;
  const MutualInformation found = mutual_information(groups, options, silent);
  const double truth = -std::log(1 - correlation * correlation);
  EXPECT_NEAR(found.information.value, truth, 4 * found.information.standard_error);
  EXPECT_LT(found.information.standard_error, 0.05 * truth);
  EXPECT_NEAR(found.pointwise.mean().item<double>(), found.information.value, 1e-9);
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
  options.x = {"c"};
  options.y = {"a"};
  EXPECT_EQ(load_groups(options).x_names, Strings{"c"});
  options.y = {};
  expect_contains(message_of([&] { load_groups(options); }, Error::Kind::usage), {"--x and --y"});
  options.x = {};
  expect_contains(message_of([&] { load_groups(options, 2, 2); }),
                  {"has 3 columns", "4 are asked"});
}

}  // namespace
}  // namespace dre::testing
