#include "benchmarks/pairs/suite.h"

#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>

#include "benchmarks/pairs/parameters.h"
#include "dre/base/context.h"
#include "dre/base/error.h"
#include "tests/support/gaussian_oracle.h"

namespace dre::pairs {
namespace {

constexpr int64_t rows = 10'000;

using Names = std::vector<std::string>;

bool contains(const Names& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

at::Generator stream(const std::string& name) {
  return Context{torch::kCPU, torch::kFloat64, 1}.generator(name);
}

struct Mean {
  double value, error;  ///< standard error
};

Mean mean_of(const Tensor& values) {
  return {values.mean().item<double>(),
          values.std().item<double>() / std::sqrt(static_cast<double>(values.size(0)))};
}

/// E_den[q / (p + q)] = E_num[p / (p + q)]: bounded on both sides, so it can be tested at any KL.
TEST(Suite, OverlapIsTheSameFromBothSides) {
  for (const auto& name : names_of(pair_table())) {
    const Pair pair = pair_by_name(name);
    auto generator = stream(name);
    const Tensor numerator = pair.log_ratio(pair.sample_numerator(rows, generator));
    const Tensor denominator = pair.log_ratio(pair.sample_denominator(rows, generator));
    const Mean from_numerator = mean_of(at::sigmoid(-numerator));
    const Mean from_denominator = mean_of(at::sigmoid(denominator));
    EXPECT_NEAR(from_numerator.value, from_denominator.value,
                4 * std::hypot(from_numerator.error, from_denominator.error) + 1e-12)
        << name;
  }
}

/// E_num[log r] is the closed form where there is one; E_den[r] = 1 where the KL is at most 1, for
/// the ratio's variance is too large for a test elsewhere.
TEST(Suite, MeansOfTheRatioAreTheKnownOnes) {
  int64_t with_formula = 0, with_small_kl = 0;
  for (const auto& name : names_of(pair_table())) {
    const Pair pair = pair_by_name(name);
    auto generator = stream(name);
    const Mean kl = mean_of(pair.log_ratio(pair.sample_numerator(rows, generator)));
    EXPECT_GE(kl.value, -4 * kl.error) << name;
    if (pair.kl()) {
      ++with_formula;
      EXPECT_NEAR(kl.value, *pair.kl(), 4 * kl.error + 1e-12) << name;
    }
    if (kl.value <= 1) {
      ++with_small_kl;
      const Mean ratio = mean_of(pair.log_ratio(pair.sample_denominator(rows, generator)).exp());
      EXPECT_NEAR(ratio.value, 1, 4 * ratio.error + 1e-12) << name;
    }
  }
  EXPECT_GE(with_formula, 15);
  EXPECT_GE(with_small_kl, 8);
}

/// Stein: E[ g(x) . grad log density(x) + div g(x) ] = 0, here for g_i = sin(x_i + i). It holds the
/// samples against the shape of the density, whatever the KL.
Mean stein_mean(const Density& density, at::Generator& generator) {
  const Tensor x = density.sample(rows, generator).set_requires_grad(true);
  const Tensor score = torch::autograd::grad({density.log_prob(x).sum()}, {x})[0];
  const Tensor phase = x.detach() + torch::arange(density.dimension(), torch::kFloat64);
  return mean_of((score * phase.sin() + phase.cos()).sum(1));
}

TEST(Suite, SamplesFollowTheDensities) {
  // Densities that jump to zero at an edge, or live on a surface, have no score.
  Names without_score = {"mi-additive-uniform", "mi-additive-gaussian", "mi-swiss-roll"};
  for (const auto& name : names_of(atom_rows())) without_score.push_back(name);  // nor have atoms
  for (const auto& name : names_of(pair_table())) {
    if (contains(without_score, name)) continue;
    const Pair pair = pair_by_name(name);
    auto generator = stream(name);
    for (const Density* density : {&pair.numerator(), &pair.denominator()}) {
      const Mean stein = stein_mean(*density, generator);
      EXPECT_NEAR(stein.value, 0, 4 * stein.error) << name;
      EXPECT_LT(stein.error, 0.2) << name;
    }
  }
}

/// All rows of indicators, of counts up to 29.
Tensor all_atoms(const Pair& pair) {
  const int64_t d = pair.dimension(), values = pair.name().starts_with("counts") ? 30 : 2;
  const std::vector<Tensor> columns(static_cast<size_t>(d), torch::arange(values, torch::kFloat64));
  return torch::stack(torch::meshgrid(columns, "ij"), -1).reshape({-1, d});
}

TEST(Suite, AtomsHaveProbabilitiesThatSumUpToOne) {
  for (const auto& name : names_of(atom_rows())) {
    if (name.find("numbers") != std::string::npos) continue;
    const Pair pair = pair_by_name(name);
    const Tensor atoms = all_atoms(pair);
    const Tensor p = pair.numerator().log_prob(atoms), q = pair.denominator().log_prob(atoms);
    EXPECT_NEAR(p.exp().sum().item<double>(), 1, 1e-9) << name;
    EXPECT_NEAR(q.exp().sum().item<double>(), 1, 1e-9) << name;
    const Tensor some = p.isfinite();
    const Tensor kl = (p.exp() * (p - q)).masked_select(some).sum();
    EXPECT_NEAR(kl.item<double>(), *pair.kl(), 1e-9) << name;
  }
}

TEST(Suite, ThreeWaysAreIndependentInPairs) {
  const Pair pair = pair_by_name("levels-3-ways");
  const Tensor atoms = all_atoms(pair);
  const Tensor p = pair.numerator().log_prob(atoms).exp();
  const Tensor second = atoms.t().matmul(p.unsqueeze(1) * atoms);  // E[a_i a_j]
  for (const int64_t i : {0, 2, 4})
    for (const int64_t j : {0, 2, 4}) {
      if (i == j) continue;
      const Tensor of_two = second.slice(0, i, i + 2).slice(1, j, j + 2);
      EXPECT_TRUE(torch::allclose(of_two, torch::full_like(of_two, 1.0 / 9)));
    }
  EXPECT_GT(*pair.kl(), 0.1);
}

TEST(Suite, DrawsAreDecidedByTheGenerator) {
  for (const auto& name : names_of(pair_table())) {
    const Pair pair = pair_by_name(name);
    const auto draws = [&](uint64_t seed) {
      auto generator = Context{torch::kCPU, torch::kFloat64, seed}.generator(name);
      return torch::cat({pair.sample_numerator(10, generator),
                         pair.sample_denominator(10, generator), pair.sample_test(10, generator)});
    };
    EXPECT_TRUE(torch::equal(draws(0), draws(0))) << name;
    EXPECT_FALSE(torch::equal(draws(0), draws(1))) << name;
  }
}

TEST(Suite, TestRowsHaveAFiniteTruth) {
  for (const auto& name : names_of(pair_table())) {
    const Pair pair = pair_by_name(name);
    auto generator = stream(name);
    const Tensor x = pair.sample_test(1001, generator);
    EXPECT_EQ(x.sizes(), (torch::IntArrayRef{1001, pair.dimension()})) << name;
    EXPECT_EQ(x.scalar_type(), torch::kFloat64) << name;
    EXPECT_TRUE(pair.log_ratio(x).isfinite().all().item<bool>()) << name;
  }
}

/// Results of one suite are compared over months and machines: a pair must not change under its
/// name. Values of log r at (0.5, ..., 0.5).
TEST(Suite, RandomParametersAreThoseOnRecord) {
  const std::vector<std::pair<const char*, double>> record = {
      {"mixture-2", 0.86573294726692},
      {"mixture-10", -1.38152779181086},
      {"mixture-10-far", 2.72083725795587},
      {"mixture-20", -0.02423458359310},
      {"warped-mixture-2", 2.24345398545395},
      {"warped-mixture-10", -4.08805489488554},
      {"warped-mixture-10-far", -1.40225283410955},
      {"warped-over-gaussian-4", 0.90585975824629}};
  for (const auto& [name, expected] : record) {
    const Pair pair = pair_by_name(name);
    const Tensor x = constant(pair.dimension(), 0.5).unsqueeze(0);
    EXPECT_NEAR(pair.log_ratio(x).item<double>(), expected, 1e-8) << name;
  }
}

oracle::Gaussian standard(int64_t d) { return {constant(d, 0), identity_matrix(d)}; }

struct GaussianCase {
  std::string name;
  oracle::Gaussian numerator, denominator;
};

Tensor without_blocks_between(const Tensor& covariance, int64_t first) {
  Tensor out = covariance.clone();
  out.slice(0, 0, first).slice(1, first).zero_();
  out.slice(0, first).slice(1, 0, first).zero_();
  return out;
}

std::vector<GaussianCase> gaussian_cases() {
  const Tensor chain = autoregressive(30, 0.5), dense = equicorrelated(50, 0.5);
  Tensor sparse = identity_matrix(50);
  for (const int64_t i : {0, 1}) sparse[i][25 + i] = sparse[25 + i][i] = 0.8;
  return {{"gaussian-2d", {constant(2, 4), identity_matrix(2)}, standard(2)},
          {"mild-shift-30", {constant(30, 0.2), chain}, {constant(30, 0), chain}},
          {"mi-gaussian-1", {constant(2, 0), equicorrelated(2, 0.75)}, standard(2)},
          {"mi-gaussian-dense-25",
           {constant(50, 0), dense},
           {constant(50, 0), without_blocks_between(dense, 25)}},
          {"mi-gaussian-sparse-25", {constant(50, 0), sparse}, standard(50)}};
}

TEST(PairTable, GaussianPairsAgreeWithTheOracle) {
  for (const auto& [name, numerator, denominator] : gaussian_cases()) {
    const Pair pair = pair_by_name(name);
    auto generator = Context{}.generator(name);
    const Tensor x = pair.sample_test(200, generator);
    const oracle::GaussianOracle exact(numerator, denominator);
    EXPECT_TRUE(torch::allclose(pair.log_ratio(x), exact.log_ratio(x), 1e-9, 1e-9)) << name;
    EXPECT_NEAR(*pair.kl(), oracle::kl(numerator, denominator), 1e-9) << name;
  }
}

/// Maps that both sides share leave the ratio as it was: compare with the pair before the map.
TEST(PairTable, SharedMapsKeepTheRatio) {
  auto generator = Context{}.generator("shared maps");
  const Tensor z = normal({100, 5}, torch::kFloat64, generator);
  const oracle::GaussianOracle base({constant(5, 0.3), 0.64 * equicorrelated(5, 0.5)}, standard(5));
  EXPECT_TRUE(
      torch::allclose(pair_by_name("log-normal-5").log_ratio(z.exp()), base.log_ratio(z), 1e-9));
  const Tensor angle =
      1.5 * std::numbers::pi * (1 + 2 * (0.5 * at::erfc(-z.slice(1, 0, 1) / std::numbers::sqrt2)));
  const Tensor rolled =
      torch::cat({angle * angle.cos() / 21, angle * angle.sin() / 21, z.slice(1, 1, 2)}, 1);
  EXPECT_TRUE(torch::allclose(pair_by_name("mi-swiss-roll").log_ratio(rolled),
                              pair_by_name("mi-gaussian-1").log_ratio(z.slice(1, 0, 2)), 1e-7,
                              1e-7));
}

TEST(PairTable, KnownInformationIsWhatThePapersSay) {
  EXPECT_NEAR(*pair_by_name("mi-gaussian-40").kl(), 10, 1e-9);
  EXPECT_NEAR(*pair_by_name("gaussian-2d").kl(), 16, 1e-12);
  EXPECT_NEAR(*pair_by_name("mi-gaussian-dense-25").kl(), std::log(26) - 0.5 * std::log(51), 1e-9);
  EXPECT_EQ(*pair_by_name("null-mixture-10").kl(), 0);
}

TEST(PairTable, TheShiftedTestSetTrainsOnTheSamePair) {
  const Pair plain = pair_by_name("gaussian-2d"), shifted = pair_by_name("gaussian-2d-shifted");
  auto generator = Context{}.generator("shifted");
  const Tensor test = shifted.sample_test(rows, generator);
  const double error = 4 / std::sqrt(0.5 * rows);
  EXPECT_NEAR(test.slice(0, 0, rows / 2).mean().item<double>(), 5, error);
  EXPECT_NEAR(test.slice(0, rows / 2).mean().item<double>(), 0, error);
  EXPECT_NEAR(shifted.sample_numerator(rows, generator).mean().item<double>(), 4, error);
  EXPECT_TRUE(torch::equal(plain.log_ratio(test), shifted.log_ratio(test)));
}

TEST(PairTable, NamesAreUniqueAndUnknownOnesRefused) {
  const std::vector<std::string> names = names_of(pair_table());
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), names.size());
  EXPECT_GE(names.size(), 12u);
  EXPECT_THROW(pair_by_name("gaussian-3d"), Error);
}

}  // namespace
}  // namespace dre::pairs
