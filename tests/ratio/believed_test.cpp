#include "dre/ratio/believed.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/gaussian_pair.h"

namespace dre {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

RatedRows unweighted(const Tensor& f) { return {f, torch::ones_like(f)}; }

/// Log-ratios of N(shift / 2, 1) against N(-shift / 2, 1) at n rows of each.
std::pair<Tensor, Tensor> gaussian_ratios(double shift, int64_t n, at::Generator& generator) {
  const auto draw = [&](double mean) {
    return shift * (mean + normal({n}, torch::kFloat64, generator));
  };
  return {draw(shift / 2), draw(-shift / 2)};
}

bool nothing(const BelievedRange& ends) { return ends.low == -infinity && ends.high == infinity; }

/// However far apart, with a model that is twice too sure, too; and where of the numerator's law
/// e^-L is below -L, as much as can be, for every L, with the probability that is said.
TEST(BelievedRange, TrueRatiosAreNotRefutedNorThoseThatAreTwiceTooSure) {
  auto generator = testing::double_context(1).generator("true ratios");
  const int tables = 400;
  int refuted = 0, sharp = 0;
  for (int i = 0; i < tables; ++i) {
    const auto [f0, f1] = gaussian_ratios(0.5 * (i % 20), 300, generator);
    for (const double sure : {1, 2})
      refuted += !nothing(believed_range(unweighted(sure * f0), unweighted(sure * f1)));
    const Tensor most = 2 * uniform({300}, torch::kFloat64, generator).log();
    sharp += !nothing(believed_range(unweighted(most), unweighted(torch::zeros_like(most))));
  }
  EXPECT_EQ(refuted, 0);
  const double expected = tables * std::exp(-5);
  EXPECT_LE(sharp, expected + 4 * std::sqrt(expected));
}

/// Rows of N(0, 1) with weights that make them N(shift, 1): where the ratio is small, so are they.
TEST(BelievedRange, RatiosThatAreTheWeightsThemselvesAreNotRefuted) {
  auto generator = testing::double_context(2).generator("weights are ratios");
  for (const double shift : {1.0, 2.0, 3.0})
    for (int i = 0; i < 50; ++i) {
      const auto draw = [&] {
        return shift * normal({500}, torch::kFloat64, generator) - shift * shift / 2;
      };
      const Tensor f0 = draw(), f1 = draw();
      EXPECT_TRUE(nothing(believed_range({f0, f0.exp()}, unweighted(f1)))) << shift;
    }
}

TEST(BelievedRange, WhatIsNotFiniteStays) {
  const Tensor f0 = torch::cat(
      {torch::zeros({500}, torch::kFloat64), torch::tensor({-infinity, -900.0}, torch::kFloat64)});
  const BelievedRange range = believed_range(unweighted(f0), unweighted(0 * f0.slice(0, 0, 500)));
  EXPECT_TRUE(std::isfinite(range.low));
  EXPECT_EQ(range(f0)[500].item<double>(), -infinity);
  EXPECT_EQ(range(f0)[501].item<double>(), range.below);
  EXPECT_NEAR(range.below, std::log((2 / 502.0) / (0.5 / 500)), 1e-12);  // half a row
}

/// Four rows of the numerator and two of the denominator are said to be e^-3000 as likely there.
TEST(BelievedRange, TakesTheNumbersOfRowsWhereTheyRefuteTheModel) {
  auto generator = testing::double_context(3).generator("outliers");
  auto [f0, f1] = gaussian_ratios(1, 1000, generator);
  f0.slice(0, 0, 4) = -3000;
  f1.slice(0, 0, 2) = -5000;
  const BelievedRange ends = believed_range(unweighted(f0), unweighted(f1));
  EXPECT_NEAR(ends.low, 2 * (std::log(4.0 / 1000) - 5), 1e-12);
  EXPECT_EQ(ends.high, infinity);
  EXPECT_NEAR(ends.below, std::log(4.0 / 2), 1e-12);
  EXPECT_TRUE(ends(f0).slice(0, 0, 4).eq(ends.below).all().item<bool>());
  EXPECT_TRUE(ends(f1).slice(0, 0, 2).eq(ends.below).all().item<bool>());
  EXPECT_TRUE(ends(f0).slice(0, 4).equal(f0.slice(0, 4)));
  // Sides exchanged, all signs change.
  const BelievedRange other = believed_range(unweighted(-f1), unweighted(-f0));
  EXPECT_EQ(other.high, -ends.low);
  EXPECT_NEAR(other.above, -ends.below, 1e-12);
  EXPECT_EQ(other.low, -infinity);
  // On the right side such rows are no contradiction.
  EXPECT_TRUE(nothing(believed_range(unweighted(f0.slice(0, 4)), unweighted(f1))));
}

/// One mistyped row of the numerator among 2 000 does not outweigh hundreds of the denominator that
/// lie between it and the others.
TEST(BelievedRange, OneWrongRowDoesNotOutweighMany) {
  auto generator = testing::double_context(5).generator("far sides");
  auto [f0, f1] = gaussian_ratios(8, 2000, generator);
  f0.slice(0, 0, 1) = -300;
  const BelievedRange ends = believed_range(unweighted(f0), unweighted(f1));
  EXPECT_GT(ends.low, -300);
  const auto there = (f1 < ends.low).sum().item<double>();
  EXPECT_LE(there, std::exp(5));
  EXPECT_GE(there, std::exp(5) - 1);
  EXPECT_NEAR(ends.below, -std::log(there), 1e-12);
  EXPECT_NEAR(ends(f1).mean().item<double>(), f1.mean().item<double>(), 5);
  // Those at or below it are refuted, however many they are.
  f1.slice(0, 0, 500) = -400;
  EXPECT_EQ((believed_range(unweighted(f0), unweighted(f1))(f1) < -300).sum().item<int64_t>(), 0);
}

TEST(BelievedRange, CountsByWeight) {
  auto generator = testing::double_context(4).generator("weights");
  auto [f0, f1] = gaussian_ratios(1, 1000, generator);
  f0.slice(0, 0, 10) = -3000;
  Tensor weight = torch::ones_like(f0);
  weight.slice(0, 0, 10) = 0;
  EXPECT_TRUE(nothing(believed_range({f0, weight}, unweighted(f1))));
  weight.slice(0, 0, 10) = 3;
  const BelievedRange ends = believed_range({f0, weight}, unweighted(f1));
  EXPECT_NEAR(ends.low, 2 * (std::log(30.0 / 1020) - 5), 1e-9);
  const BelievedRange scaled = believed_range({f0, 7 * weight}, {f1, 0.1 * torch::ones_like(f1)});
  EXPECT_NEAR(scaled.low, ends.low, 1e-12);
  EXPECT_NEAR(scaled.below, ends.below, 1e-12);
}

}  // namespace
}  // namespace dre
