#include "dre/apps/two_sample_test.h"

#include <gtest/gtest.h>

#include <cmath>

#include "dre/numeric/statistics.h"
#include "tests/apps/numeric_sides.h"

namespace dre::testing {
namespace {

TEST(TwoSampleTest, PValuesOfEqualSidesAreUniform) {
  std::vector<double> p_values, of_ties, of_weighted_ties;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    auto generator = stream("null", seed);
    const Sides sides = numeric_sides(rows(60, 2, 0, generator), rows(50, 2, 0, generator));
    Progress silent;
    const FitOptions fit = reference_alone(0);  // over tables, not over seeds
    p_values.push_back(
        two_sample_test(sides.numerator, sides.denominator, sides.names, fit, 1000, 199, silent)
            .p_value);
    const Tensor equal = torch::zeros({20}, torch::kFloat64);
    of_ties.push_back(permutation_test({equal, {}, equal, {}}, 19, generator).p_value);
    const Tensor weight = uniform({20}, torch::kFloat64, generator);
    of_weighted_ties.push_back(
        permutation_test({equal + 0.3, weight, equal + 0.3, {}}, 19, generator).p_value);
  }
  const double critical = 1.628 / std::sqrt(100.0);  // Kolmogorov-Smirnov at 1 %
  EXPECT_LT(distance_from_uniform(torch::tensor(p_values, torch::kFloat64)), critical);
  EXPECT_LT(distance_from_uniform(torch::tensor(of_ties, torch::kFloat64)), critical);
  EXPECT_LT(distance_from_uniform(torch::tensor(of_weighted_ties, torch::kFloat64)), critical);
}

TEST(TwoSampleTest, PValuesOfEqualSidesAreUniformWithTrainedNetworks) {
  // Without a reference and without a guard the network always has its say.
  std::vector<double> p_values;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    auto generator = stream("null network", seed);
    const Sides sides = numeric_sides(rows(80, 2, 0, generator), rows(80, 2, 0, generator));
    Progress silent;
    FitOptions fit = small_network(static_cast<int64_t>(seed));
    fit.reference = "none";
    fit.train.steps = 60;
    p_values.push_back(
        two_sample_test(sides.numerator, sides.denominator, sides.names, fit, 1000, 199, silent)
            .p_value);
  }
  EXPECT_LT(distance_from_uniform(torch::tensor(p_values, torch::kFloat64)),
            1.628 / std::sqrt(20.0));
}

TEST(TwoSampleTest, OnlyTwoLargeSidesHaveANormalLaw) {
  auto generator = stream("normal law");
  const auto scores = [](int64_t n, int64_t high) {
    Tensor f = torch::full({n}, -4, torch::kFloat64);
    f.slice(0, 0, high) = 4;
    return f;
  };
  // One of 30 rows where one of 500 is usual: the exact p-value is 0.058.
  const TwoSampleTest small =
      permutation_test({scores(30, 1), {}, scores(100'000, 200), {}}, 199, generator);
  EXPECT_EQ(small.permutations, 199);
  EXPECT_NEAR(small.p_value, 0.03, 0.04);  // uniform below 0.058, up to the noise of permutations
  const TwoSampleTest large =
      permutation_test({scores(50'000, 50'000), {}, scores(50'000, 0), {}}, 199, generator);
  EXPECT_EQ(large.permutations, 0);
  EXPECT_GT(large.p_value, 0);
  EXPECT_LT(large.p_value, 1e-10);
}

/// A model that says the same of every row, up to rounding, leaves nothing but a draw.
TEST(TwoSampleTest, PValuesOfManyEqualRowsAreUniform) {
  std::vector<double> of_normals, of_ties;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    auto generator = stream("many rows", seed);
    const auto scores = [&](int64_t n) { return normal({n}, torch::kFloat64, generator); };
    of_normals.push_back(
        permutation_test({scores(50'000), {}, scores(53'500), {}}, 199, generator).p_value);
    const auto same = [&](int64_t n) {
      return torch::full({n}, seed % 2 == 0 ? 0.3 : 1e-16, torch::kFloat64);
    };
    const TwoSampleTest tied =
        permutation_test({same(50'000), {}, same(53'500), {}}, 199, generator);
    EXPECT_EQ(tied.permutations, 0);
    of_ties.push_back(tied.p_value);
  }
  const double critical = 1.628 / std::sqrt(50.0);  // Kolmogorov-Smirnov at 1 %
  EXPECT_LT(distance_from_uniform(torch::tensor(of_normals, torch::kFloat64)), critical);
  EXPECT_LT(distance_from_uniform(torch::tensor(of_ties, torch::kFloat64)), critical);
}

/// Weights of the smaller side alone, far from equal: the larger errors of its means are no
/// difference.
TEST(TwoSampleTest, PValuesOfEqualLawsAreUniformWhereOneSideHasWeights) {
  std::vector<double> p_values, swapped;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    auto generator = stream("weighted null", seed);
    // Of N(0.8, 1), weighted to N(0, 1).
    const Tensor x = 0.8 + normal({200}, torch::kFloat64, generator);
    const Tensor weight = (0.32 - 0.8 * x).exp();
    const Tensor y = normal({800}, torch::kFloat64, generator);
    p_values.push_back(permutation_test({x, weight, y, {}}, 99, generator).p_value);
    swapped.push_back(permutation_test({y, {}, x, weight}, 99, generator).p_value);
  }
  const double critical = 1.628 / std::sqrt(300.0);  // Kolmogorov-Smirnov at 1 %
  EXPECT_LT(distance_from_uniform(torch::tensor(p_values, torch::kFloat64)), critical);
  EXPECT_LT(distance_from_uniform(torch::tensor(swapped, torch::kFloat64)), critical);
}

TEST(TwoSampleTest, RowsOfWeightZeroAreNotPermuted) {
  auto generator = stream("no weight");
  const Tensor f = normal({40}, torch::kFloat64, generator);
  Tensor weight = torch::ones_like(f);
  weight.slice(0, 0, 35) = 0;
  const TwoSampleTest some = permutation_test({f, weight, f, {}}, 99, generator);
  EXPECT_EQ(some.rows, 45);
  EXPECT_GT(some.p_value, 0);
  EXPECT_LE(some.p_value, 1);
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

}  // namespace
}  // namespace dre::testing
