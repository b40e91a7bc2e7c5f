#include "benchmarks/pairs/density.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <string>

#include "benchmarks/pairs/combine.h"
#include "benchmarks/pairs/parameters.h"
#include "dre/base/context.h"
#include "dre/base/error.h"

namespace dre::pairs {
namespace {

constexpr double pi = std::numbers::pi;

struct Example {
  std::string name;
  DensityPtr density;
  double low, high;  ///< the mass outside is below 1e-6
  double tolerance;  ///< of the midpoint rule, which is slow where a density jumps
};

DensityPtr two_bumps() {
  return mixture({1, 3}, {gaussian(constant(2, -1), autoregressive(2, 0.5)),
                          gaussian(constant(2, 1.5), 0.3 * identity_matrix(2))});
}

/// In one and two dimensions, where a grid can integrate.
std::vector<Example> examples() {
  const DensityPtr unit = uniform_interval(0, 1);
  const DensityPtr noise = gaussian(constant(1, 0), 0.04 * identity_matrix(1));
  return {{"gaussian", gaussian(constant(2, 0.3), autoregressive(2, -0.6)), -8, 8, 1e-6},
          {"student", student(5, constant(1, 1), 2 * identity_matrix(1)), -80, 80, 1e-5},
          {"uniform", uniform_interval(-0.5, 2), -1, 3, 1e-3},
          {"uniform plus uniform", uniform_plus_uniform(0.1), -1, 2, 1e-6},
          {"uniform plus gaussian", uniform_plus_gaussian(0.2), -1, 2, 1e-5},
          {"mixture", two_bumps(), -7, 7, 1e-6},
          {"product", product({noise, unit}), -1.5, 1.5, 1e-2},
          {"additive noise", pushforward(product({unit, noise}), additive()), -1.5, 2.5, 1e-2},
          {"warped", pushforward(two_bumps(), waves(2, 3, 1, 1.5)), -9, 9, 1e-5}};
}

/// Midpoints of a grid over [low, high]^d. -> [n, d]
Tensor grid(const Example& example) {
  const int64_t d = example.density->dimension(), n = d == 1 ? 20'000 : 400;
  const double step = (example.high - example.low) / n;
  const Tensor axis = example.low + step * (torch::arange(n, torch::kFloat64) + 0.5);
  if (d == 1) return axis.unsqueeze(1);
  return torch::stack({axis.repeat_interleave(n), axis.repeat({n})}, 1);
}

double cell_volume(const Example& example, const Tensor& points) {
  return std::pow(example.high - example.low, points.size(1)) / static_cast<double>(points.size(0));
}

TEST(Density, IntegratesToOne) {
  for (const auto& example : examples()) {
    const Tensor x = grid(example);
    const double mass =
        example.density->log_prob(x).exp().sum().item<double>() * cell_volume(example, x);
    EXPECT_NEAR(mass, 1, example.tolerance) << example.name;
  }
}

/// A bounded function of all coordinates has the same mean over samples as over the density.
TEST(Density, SamplesFollowIt) {
  const int64_t n = 40'000;
  for (const auto& example : examples()) {
    const auto function = [](const Tensor& x) { return (1.3 * x + 0.4).sin().sum(1).cos(); };
    const Tensor points = grid(example);
    const double exact =
        (function(points) * example.density->log_prob(points).exp()).sum().item<double>() *
        cell_volume(example, points);
    auto generator = Context{torch::kCPU, torch::kFloat64, 4}.generator(example.name);
    const Tensor values = function(example.density->sample(n, generator));
    const double error = values.std().item<double>() / std::sqrt(static_cast<double>(n));
    EXPECT_NEAR(values.mean().item<double>(), exact, 4 * error + example.tolerance) << example.name;
  }
}

TEST(Density, StudentIsTheOneWrittenOut) {
  const Tensor x = torch::tensor({{0.0}, {1.7}, {-30.0}}, torch::kFloat64);
  const Tensor cauchy = -(pi * (1 + x.square())).log().squeeze(1);
  EXPECT_TRUE(torch::allclose(student(1, constant(1, 0), identity_matrix(1))->log_prob(x), cauchy));
  const Tensor two = -1.5 * (2 + x.square()).log().squeeze(1);
  EXPECT_TRUE(torch::allclose(student(2, constant(1, 0), identity_matrix(1))->log_prob(x), two));
  // In two dimensions with two degrees of freedom: (1 + |x|^2 / 2)^-2 / (2 pi).
  const Tensor plane = torch::tensor({{0.3, -2.0}, {5.0, 1.0}}, torch::kFloat64);
  const Tensor expected = -2 * (plane.square().sum(1) / 2).log1p() - std::log(2 * pi);
  EXPECT_TRUE(
      torch::allclose(student(2, constant(2, 0), identity_matrix(2))->log_prob(plane), expected));
}

TEST(Density, UniformHasNoMassOutside) {
  const Tensor x = torch::tensor({{-0.1}, {0.5}, {1.1}}, torch::kFloat64);
  const Tensor value = uniform_interval(0, 1)->log_prob(x).exp();
  EXPECT_TRUE(torch::equal(value, torch::tensor({0.0, 1.0, 0.0}, torch::kFloat64)));
}

TEST(Density, ProbabilitiesOfAtomsSumUpToOne) {
  const Tensor counts = torch::arange(-3, 60, torch::kFloat64).unsqueeze(1) / 2;
  const Tensor p = poisson(2.5)->log_prob(counts).exp();
  EXPECT_NEAR(p.sum().item<double>(), 1, 1e-12);
  EXPECT_NEAR(p[3 + 2 * 2].item<double>(), std::exp(-2.5) * 2.5 * 2.5 / 2, 1e-14);
  EXPECT_EQ(p[3 + 1].item<double>(), 0);  // half a count
  const Tensor place = torch::tensor({1.0, 0.0}, torch::kFloat64);
  const Tensor x = torch::tensor({{1.0, 0.0}, {0.0, 0.0}, {1.0, 1.0}}, torch::kFloat64);
  EXPECT_TRUE(torch::equal(point(place)->log_prob(x).exp(),
                           torch::tensor({1.0, 0.0, 0.0}, torch::kFloat64)));
}

TEST(Density, AtomsAreDrawnByTheirProbability) {
  auto generator = Context{}.generator("atoms");
  const int64_t n = 40'000;
  const DensityPtr either = mixture({0.3, 0.7}, {point(constant(2, 1)), point(constant(2, 0))});
  const double share = either->sample(n, generator).mean().item<double>();
  EXPECT_NEAR(share, 0.3, 4 * std::sqrt(0.3 * 0.7 / n));
  const Tensor counts = poisson(2.5)->sample(n, generator);
  EXPECT_NEAR(counts.mean().item<double>(), 2.5, 4 * std::sqrt(2.5 / n));
  EXPECT_NEAR((counts == 2).to(torch::kFloat64).mean().item<double>(), 0.2565,
              4 * std::sqrt(0.2565 * 0.7435 / n));
}

TEST(Density, RefusesRowsOfAnotherShapeOrPrecision) {
  for (const auto& example : examples()) {
    const int64_t d = example.density->dimension();
    EXPECT_THROW(example.density->log_prob(torch::zeros({3, d + 1}, torch::kFloat64)), Error)
        << example.name;
    EXPECT_THROW(example.density->log_prob(torch::zeros({3, d})), Error) << example.name;
  }
}

TEST(FixedNumbers, AreThoseOfTheStandardEngine) {
  // The standard fixes the 10000th output of the default mt19937_64.
  FixedNumbers numbers(std::mt19937_64::default_seed);
  double last = 0;
  for (int i = 0; i < 10'000; ++i) last = numbers.uniform();
  EXPECT_NEAR(last, 9981545732273789042.0 * 0x1p-64, 1e-15);
}

}  // namespace
}  // namespace dre::pairs
