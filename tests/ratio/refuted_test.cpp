#include "dre/ratio/refuted.h"

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

bool nothing(const RefutedEnds& ends) { return ends.low == -infinity && ends.high == infinity; }

/// However far apart; and where of the numerator's law e^-L is below -L, as much as can be, for
/// every L, with the probability that is said.
TEST(RefutedEnds, TrueRatiosAreNotRefuted) {
  auto generator = testing::double_context(1).generator("true ratios");
  const int tables = 400;
  int refuted = 0, sharp = 0;
  for (int i = 0; i < tables; ++i) {
    const auto [f0, f1] = gaussian_ratios(0.5 * (i % 20), 300, generator);
    refuted += !nothing(refuted_ends(unweighted(f0), unweighted(f1)));
    const Tensor most = uniform({300}, torch::kFloat64, generator).log();
    sharp += !nothing(refuted_ends(unweighted(most), unweighted(torch::zeros_like(most))));
  }
  EXPECT_EQ(refuted, 0);
  const double expected = tables * std::exp(-5);
  EXPECT_LE(sharp, expected + 4 * std::sqrt(expected));
}

TEST(RefutedEnds, LeavesAModelThatIsTooSureToRecalibration) {
  auto generator = testing::double_context(2).generator("too sure");
  const auto [f0, f1] = gaussian_ratios(2, 2000, generator);
  EXPECT_TRUE(nothing(refuted_ends(unweighted(2 * f0), unweighted(2 * f1))));
}

/// Four rows of the numerator and two of the denominator are said to be e^-3000 as likely there.
TEST(RefutedEnds, TakesTheNumbersOfRowsWhereTheyRefuteTheModel) {
  auto generator = testing::double_context(3).generator("outliers");
  auto [f0, f1] = gaussian_ratios(1, 1000, generator);
  f0.slice(0, 0, 4) = -3000;
  f1.slice(0, 0, 2) = -5000;
  const RefutedEnds ends = refuted_ends(unweighted(f0), unweighted(f1));
  EXPECT_NEAR(ends.low, std::log(4.0 / 1000) - 5, 1e-12);
  EXPECT_EQ(ends.high, infinity);
  EXPECT_NEAR(ends.below, std::log(4.5 / 2.5), 1e-12);
  EXPECT_TRUE(ends(f0).slice(0, 0, 4).eq(ends.below).all().item<bool>());
  EXPECT_TRUE(ends(f1).slice(0, 0, 2).eq(ends.below).all().item<bool>());
  EXPECT_TRUE(ends(f0).slice(0, 4).equal(f0.slice(0, 4)));
  // Sides exchanged, all signs change.
  const RefutedEnds other = refuted_ends(unweighted(-f1), unweighted(-f0));
  EXPECT_EQ(other.high, -ends.low);
  EXPECT_NEAR(other.above, -ends.below, 1e-12);
  EXPECT_EQ(other.low, -infinity);
  // On the right side such rows are no contradiction.
  EXPECT_TRUE(nothing(refuted_ends(unweighted(f0.slice(0, 4)), unweighted(f1))));
}

TEST(RefutedEnds, CountsByWeight) {
  auto generator = testing::double_context(4).generator("weights");
  auto [f0, f1] = gaussian_ratios(1, 1000, generator);
  f0.slice(0, 0, 10) = -3000;
  Tensor weight = torch::ones_like(f0);
  weight.slice(0, 0, 10) = 0;
  EXPECT_TRUE(nothing(refuted_ends({f0, weight}, unweighted(f1))));
  weight.slice(0, 0, 10) = 3;
  const RefutedEnds ends = refuted_ends({f0, weight}, unweighted(f1));
  EXPECT_NEAR(ends.low, std::log(30.0 / 1020) - 5, 1e-9);
  const RefutedEnds scaled = refuted_ends({f0, 7 * weight}, {f1, 0.1 * torch::ones_like(f1)});
  EXPECT_NEAR(scaled.low, ends.low, 1e-12);
  EXPECT_NEAR(scaled.below, ends.below, 1e-12);
}

}  // namespace
}  // namespace dre
