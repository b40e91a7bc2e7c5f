#include "dre/apps/fixed_columns.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/apps/numeric_sides.h"

namespace dre::testing {
namespace {

TEST(FixedColumns, AreCombinationsOfTheOthers) {
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
}

/// Neither lines nor monotone.
TEST(FixedColumns, AreFunctionsOfTheOthers) {
  for (const int64_t n : {200, 2000, 20'000}) {
    auto generator = stream("function", static_cast<uint64_t>(n));
    const Tensor x = rows(n, 1, 0, generator), other = rows(n, 2, 0, generator);
    for (const Tensor& y : {x.square(), x.abs(), (3 * x).sin(), x.clamp_min(0), (-x * x).exp()}) {
      EXPECT_TRUE(one_fixes_the_other(x, y));
      EXPECT_TRUE(one_fixes_the_other(y, x));
      EXPECT_TRUE(one_fixes_the_other(torch::cat({other, x}, 1), torch::cat({y, other}, 1)));
    }
    EXPECT_TRUE(one_fixes_the_other(other, other.prod(1, true)));
    const Tensor grid = torch::linspace(-3, 3, n, torch::kFloat64).unsqueeze(1);
    EXPECT_TRUE(one_fixes_the_other(grid, grid.square()));  // which has every value twice
  }
}

TEST(FixedColumns, AreNotThoseWithNoise) {
  for (const int64_t n : {200, 2000, 20'000}) {
    auto generator = stream("noise", static_cast<uint64_t>(n));
    const Tensor x = rows(n, 1, 0, generator), noise = rows(n, 1, 0, generator);
    const Tensor cauchy = noise / rows(n, 1, 0, generator), other = rows(n, 2, 0, generator);
    for (const double rho : {0.99, 0.999, 0.9999})
      EXPECT_FALSE(one_fixes_the_other(x, rho * x + std::sqrt(1 - rho * rho) * noise)) << rho;
    for (const Tensor& y : {x.square() + 0.05 * noise, cauchy, x + 0.05 * cauchy,
                            (10 * noise).exp(), at::where(x > 0, noise + 6, noise)})
      EXPECT_FALSE(one_fixes_the_other(x, y));
    EXPECT_FALSE(one_fixes_the_other(other, other.prod(1, true) + 0.05 * noise));
  }
}

/// Their entropy bounds the information, be the relation as exact as it may.
TEST(FixedColumns, AreNotThoseWhoseValuesRepeat) {
  for (const int64_t n : {200, 2000, 20'000}) {
    auto generator = stream("ties", static_cast<uint64_t>(n));
    const Tensor x = rows(n, 1, 0, generator), rounded = (100 * x).round() / 100;
    EXPECT_FALSE(one_fixes_the_other(rounded, rounded.square()));
    EXPECT_FALSE(one_fixes_the_other(x, rounded.square()));
    EXPECT_FALSE(one_fixes_the_other((5 * x).round(), x + (5 * x).round()));
    EXPECT_FALSE(one_fixes_the_other(x, (x > 0).to(torch::kFloat64)));
    const Tensor level = torch::arange(n).floor_divide(3).to(torch::kFloat64).unsqueeze(1);
    EXPECT_FALSE(one_fixes_the_other(level.square(), level + 1e-6 * x));
  }
}

}  // namespace
}  // namespace dre::testing
