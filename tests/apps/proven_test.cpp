#include "dre/apps/proven.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "tests/apps/numeric_sides.h"

namespace dre::testing {
namespace {

/// What the events prove where nothing else is known.
Divergences proven_alone(const BeyondRange& numerator, const BeyondRange& denominator,
                         double level = 0.95) {
  Divergences none;
  none.level = level;
  raise_to_proven(none, numerator, denominator);
  return none;
}

Tensor column(const Tensor& x) { return x.reshape({-1, 1}); }

/// Rows of N(0, 1) with |x| < 1, by its quantiles.
Tensor cut(int64_t n, at::Generator& generator) {
  const double inside = std::erf(std::sqrt(0.5));
  return column(std::numbers::sqrt2 *
                torch::erfinv(inside * (2 * uniform({n}, torch::kFloat64, generator) - 1)));
}

/// Of the denominator b is where the numerator has nothing: TV = b, KL = -log(1 - b), and JS is
/// that of two events. The intervals hold it as often as they say, values are close.
TEST(Proven, IntervalsOfACutHoldTheTruth) {
  const Encoding encoding(Strings{"x0"});
  const double b = 1 - std::erf(std::sqrt(0.5)), half = 1 - b / 2;
  const double kl = -std::log(1 - b);
  const double js = (-std::log(half) + b * std::log(2.0) + (1 - b) * std::log((1 - b) / half)) / 2;
  auto generator = stream("cut");
  const int tables = 300;
  const int64_t n = 1'000;
  int hits[3] = {};
  double means[3] = {};
  for (int i = 0; i < tables; ++i) {
    const Samples top = make_samples(cut(n, generator)),
                  bottom = make_samples(rows(n, 1, 0, generator));
    const Divergences found = proven_alone(count_beyond_range(top, bottom, encoding),
                                           count_beyond_range(bottom, top, encoding));
    const auto look = [&](int at, const Divergence& one, double truth) {
      hits[at] += one.low <= truth && truth <= one.high;
      means[at] += one.value / tables;
    };
    look(0, found.total_variation, b);
    look(1, found.kl_numerator_denominator, kl);
    look(2, found.jensen_shannon, js);
    EXPECT_GT(found.kl_denominator_numerator.low, kl);  // infinite, in truth
  }
  // 95 % less four standard errors; what the numerator may have beyond its rows lowers the values.
  for (const int count : hits) EXPECT_GT(count, tables * (0.95 - 4 * 0.0126));
  EXPECT_NEAR(means[0], b, 0.004);
  EXPECT_NEAR(means[1], kl, 0.02);
  EXPECT_NEAR(means[2], js, 0.006);
}

/// Sides with all of their laws in common: what is beyond a range by chance proves nothing, and
/// what a wider side has there is less than its divergence.
TEST(Proven, IsNeverMoreThanTheTruth) {
  const Encoding encoding(Strings{"x0", "x1"});
  auto generator = stream("proven");
  for (const double scale : {1.0, 1.5, 2.0, 4.0})
    for (int i = 0; i < 20; ++i) {
      const Samples top = make_samples(rows(500, 2, 0, generator));
      const Samples bottom = make_samples(scale * rows(800, 2, 0, generator));
      const Divergences found = proven_alone(count_beyond_range(top, bottom, encoding),
                                             count_beyond_range(bottom, top, encoding));
      const double square = scale * scale;
      EXPECT_LE(found.kl_numerator_denominator.value, 2 * std::log(scale) + 1 / square - 1 + 1e-12);
      EXPECT_LE(found.kl_denominator_numerator.low, square - 1 - 2 * std::log(scale) + 1e-12);
      EXPECT_TRUE(scale > 1 || found.total_variation.high == 0);
    }
}

/// Sides far apart: KL is at least what so many rows show, and no more than that is claimed.
TEST(Proven, SidesThatNeverMeetHaveNoUpperEnd) {
  const BeyondRange all{1, 500, 500, 1};
  const Divergences found = proven_alone(all, all);
  EXPECT_GT(found.kl_numerator_denominator.low, std::log(500 / 3.9) - 0.1);
  EXPECT_LT(found.kl_numerator_denominator.value, std::log(1002.0));  // half a row of 501
  EXPECT_TRUE(std::isinf(found.kl_numerator_denominator.high));
  EXPECT_GT(found.jensen_shannon.value, 0.68);
  EXPECT_LE(found.jensen_shannon.high, std::numbers::ln2);
  EXPECT_GT(found.total_variation.low, 0.98);
  EXPECT_EQ(found.total_variation.standard_error, 0);
}

/// a of the numerator's rows and b of the denominator's have levels of their own: the laws of three
/// events, by their definitions.
TEST(Proven, OwnLevelsTellAsMuchAsThreeEvents) {
  const double a = 0.2, b = 0.05;
  Divergences found;
  raise_to_own_levels(found, {{"zip"}, a, b, false, 2});
  const double top[] = {a, 0, 1 - a}, bottom[] = {0, b, 1 - b};
  double js = 0;
  for (int i = 0; i < 3; ++i)
    for (const double p : {top[i], bottom[i]})
      if (p > 0) js += p * std::log(2 * p / (top[i] + bottom[i])) / 2;
  EXPECT_NEAR(found.jensen_shannon.value, js, 1e-12);
  EXPECT_NEAR(found.jensen_shannon.low, js, 1e-12);
  EXPECT_EQ(found.jensen_shannon.high, std::numbers::ln2);
  EXPECT_EQ(found.total_variation.value, a);
  EXPECT_EQ(found.total_variation.high, 1);
  EXPECT_TRUE(std::isinf(found.kl_numerator_denominator.high));
  EXPECT_GE(found.kl_numerator_denominator.low, 2 * a * a);
  EXPECT_GE(found.chi_square.low, 4 * a * a);
  // What is larger already stays, and sides that share nothing are as far apart as can be.
  found.jensen_shannon.value = 0.3;
  raise_to_own_levels(found, {{"zip"}, a, b, false, 2});
  EXPECT_EQ(found.jensen_shannon.value, 0.3);
  raise_to_own_levels(found, {{"zip"}, 1, 1, true, 2});
  EXPECT_NEAR(found.jensen_shannon.value, std::numbers::ln2, 1e-12);
  EXPECT_EQ(found.total_variation.value, 1);
}

TEST(Proven, WhatIsInfiniteStaysSo) {
  Divergences before;
  before.level = 0.9;
  before.kl_denominator_numerator = {NAN, NAN, 0.1, NAN};
  raise_to_proven(before, {}, {0.3, 1'000, 1'000, 2});
  EXPECT_TRUE(std::isnan(before.kl_denominator_numerator.value));
  EXPECT_TRUE(std::isnan(before.kl_denominator_numerator.high));
  EXPECT_GT(before.kl_denominator_numerator.low, 0.5);
  EXPECT_NEAR(before.total_variation.value, 0.3, 0.003);
}

}  // namespace
}  // namespace dre::testing
