#include "dre/apps/support.h"

#include <gtest/gtest.h>

#include "tests/apps/numeric_sides.h"

namespace dre::testing {
namespace {

/// Shares of rows with weights sum to 1 up to rounding only.
TEST(Support, NoMoreThanAllRowsAreOutside) {
  auto generator = stream("outside");
  for (int64_t n = 2; n < 200; ++n) {
    const Samples side =
        make_samples(rows(n, 1, 0, generator), rows(n, 1, 0, generator).squeeze(1).exp());
    const Tensor beyond = torch::full({n}, 1e3, torch::kFloat64);
    EXPECT_LE(share_outside(beyond, side, side, Encoding(Strings{"x0"})), 1);
  }
}

Samples column_of(const Tensor& x) { return make_samples(x.to(torch::kFloat64).reshape({-1, 1})); }

/// Numbers that one side cannot have: others than its only one, or where none repeats on both.
TEST(Support, RepeatedNumbersOfOneSideAreLevelsOfItsOwn) {
  const Encoding encoding(Strings{"x0"});
  const Samples zeros = column_of(torch::zeros({400})), flags = column_of(torch::arange(400) % 2);
  EXPECT_TRUE(has_own_levels(flags, zeros, encoding));
  EXPECT_FALSE(has_own_levels(zeros, flags, encoding));
  EXPECT_FALSE(has_own_levels(column_of(torch::arange(400) == 7), zeros, encoding));  // chance
  const Samples early = column_of(2020 + torch::arange(400) % 3);
  const Samples late = column_of(2023 + torch::arange(400) % 3);
  EXPECT_TRUE(has_own_levels(early, late, encoding) && has_own_levels(late, early, encoding));
  // Counts go on beyond those that were seen, and numbers that do not repeat never meet.
  EXPECT_FALSE(has_own_levels(column_of(torch::arange(400) % 9), column_of(torch::arange(400) % 3),
                              encoding));
  EXPECT_FALSE(
      has_own_levels(column_of(torch::arange(400)), column_of(0.5 + torch::arange(400)), encoding));
}

/// What stands for missing values is of both sides; few values do not show where a side ends.
TEST(Support, MissingValuesAreNoneThatASideHas) {
  using Role = EncodedColumn::Role;
  const Encoding encoding(
      {{"c", TypedColumn::Kind::number, 2, {}, true, false}},
      {{0, Role::value, "", 0, "c"}, {0, Role::missing, "", 0, "c is missing"}});
  const auto side = [](const Tensor& known) {
    Tensor x = torch::tensor({2.0, 1.0}, torch::kFloat64).repeat({300, 1});
    x.slice(0, 0, known.size(0)) = torch::stack({known, torch::zeros_like(known)}, 1);
    return make_samples(x);
  };
  const Tensor ones = torch::ones({25}, torch::kFloat64);
  const Samples one = side(ones), two = side(2 * ones);
  EXPECT_TRUE(has_own_levels(one, two, encoding));
  EXPECT_TRUE(has_own_levels(two, one, encoding));
  EXPECT_FALSE(has_own_levels(two, two, encoding));
  auto generator = stream("few known values");
  const Samples many = side(normal({300}, torch::kFloat64, generator) + 2);
  const Samples few = side(normal({12}, torch::kFloat64, generator) + 2);
  EXPECT_FALSE(beyond_range(many, few, encoding).any().item<bool>());
  EXPECT_FALSE(without_counterpart(many, few, encoding).any().item<bool>());
  const Samples far = side(normal({300}, torch::kFloat64, generator) + 9);
  EXPECT_GT(beyond_range(far, few, encoding).sum().item<int64_t>(), 290);
}

/// Forty rows of a thousand break z = x + y, which all others keep; each value is ordinary.
TEST(Support, RowsThatBreakARuleOfTheOtherSideAreOutside) {
  auto generator = stream("rule");
  const Encoding encoding(Strings{"x0", "x1", "x2"});
  const auto with_sum = [&](int64_t breaking) {
    Tensor x = rows(1000, 3, 0, generator);
    x.slice(0, breaking).select(1, 2) = x.slice(0, breaking).slice(1, 0, 2).sum(1);
    return make_samples(x);
  };
  const Samples strict = with_sum(0), loose = with_sum(40);
  EXPECT_TRUE(has_own_levels(loose, strict, encoding));
  EXPECT_EQ(beyond_range(loose, strict, encoding).sum().item<int64_t>(), 40);
  const BeyondRange found = count_beyond_range(loose, strict, encoding);
  EXPECT_EQ(found.ends, 1);
  EXPECT_NEAR(found.share, 0.04, 1e-12);
  EXPECT_FALSE(has_own_levels(strict, loose, encoding));
  EXPECT_FALSE(has_own_levels(with_sum(4), strict, encoding));  // chance
  EXPECT_FALSE(has_own_levels(with_sum(0), strict, encoding));
}

/// Beyond the last value of the other side are rows of any shifted or somewhat wider law; only
/// where a side ends do they lack a counterpart.
TEST(Support, RareValuesAreNotWithoutACounterpart) {
  const Encoding encoding(Strings{"x0"});
  const auto outside = [&](const Tensor& own, const Tensor& other) {
    return without_counterpart(column_of(own), column_of(other), encoding).sum().item<int64_t>();
  };
  int taken_for_ends = 0;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    auto generator = stream("tails", seed);
    const auto draw = [&] { return normal({1000}, torch::kFloat64, generator); };
    const Tensor usual = draw();
    for (const Tensor& other_law : {draw() + 1, 1.3 * draw()})
      taken_for_ends += outside(other_law, usual) > 0;
    Tensor with_outliers = draw();
    with_outliers.slice(0, 0, 40).add_(30);
    EXPECT_GE(outside(with_outliers, usual), 40) << seed;
    const auto flat = [&] { return uniform({1000}, torch::kFloat64, generator); };
    const Tensor other = flat();
    EXPECT_NEAR(static_cast<double>(outside(flat() + 0.3, other)), 300, 70) << seed;
  }
  EXPECT_LE(taken_for_ends, 4);  // of 200; held against equal laws, 81
}

TEST(Support, RowsBeyondARangeAreCountedByWeightAndEnds) {
  const Encoding encoding(Strings{"x0"});
  const Tensor x = torch::linspace(-2, 2, 401, torch::kFloat64);
  const Samples inner = column_of(x / 2);
  const BeyondRange found = count_beyond_range(column_of(x), inner, encoding);
  EXPECT_EQ(found.ends, 2);
  EXPECT_NEAR(found.share, 200.0 / 401, 1e-12);
  EXPECT_NEAR(found.rows, 401, 1e-9);
  EXPECT_EQ(count_beyond_range(inner, column_of(x), encoding).ends, 0);
  const Samples weighted = make_samples(column_of(x).x, (x > 1).to(torch::kFloat64) + 1);
  EXPECT_NEAR(count_beyond_range(weighted, inner, encoding).share, 300.0 / 501, 1e-12);
}

}  // namespace
}  // namespace dre::testing
