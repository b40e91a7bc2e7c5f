#include "dre/ratio/cell_table.h"

#include <gtest/gtest.h>

#include <cmath>

#include "dre/base/context.h"
#include "dre/base/error.h"

namespace dre {
namespace {

/// Rows 0, 1, 2, ... of one column, with these probabilities.
Samples drawn(int64_t n, const Tensor& probability, at::Generator& generator) {
  const Tensor level = at::multinomial(probability, n, /*replacement=*/true, generator);
  return make_samples(level.to(torch::kFloat64).unsqueeze(1));
}

Samples repeated(const std::vector<int64_t>& counts) {
  const Tensor level = torch::arange(static_cast<int64_t>(counts.size()), torch::kFloat64);
  return make_samples(level.repeat_interleave(torch::tensor(counts, torch::kInt64)).unsqueeze(1));
}

Tensor nothing(const Samples& side) { return torch::zeros({side.rows()}, torch::kFloat64); }

CellTable counted(const Samples& top, const Samples& bottom, double guard = 3) {
  return CellTable::fit(top, nothing(top), bottom, nothing(bottom), guard);
}

Tensor levels(int64_t count) { return torch::arange(count, torch::kFloat64).unsqueeze(1); }

TEST(CellTable, LargeCountsAreBelieved) {
  const CellTable table =
      counted(repeated({60'000, 20'000, 20'000}), repeated({20'000, 20'000, 60'000}));
  EXPECT_EQ(table.size(), 3);
  const Tensor exact = torch::tensor({std::log(3.0), 0.0, -std::log(3.0)}, torch::kFloat64);
  EXPECT_LT((table.deviation(levels(3)) - exact).abs().max().item<double>(), 1e-3);
}

/// The likeliest prior of cells with 5 : 15 and 15 : 5 rows, by a finer search than the table's.
TEST(CellTable, CountsAreShrunkByTheLikeliestPrior) {
  const CellTable table = counted(repeated({5, 15, 5, 15}), repeated({15, 5, 15, 5}));
  double best = -INFINITY, kappa = 0;
  for (double k = 0.2; k < 100; k *= 1.01) {
    const double half = k / 2;
    const double own = std::lgamma(5 + half) + std::lgamma(15 + half) - std::lgamma(20 + k) -
                       2 * std::lgamma(half) + std::lgamma(k);
    if (own > best) best = own, kappa = k;
  }
  const double expected = std::log((5 + kappa / 2) / (15 + kappa / 2));
  EXPECT_NEAR(table.deviation(levels(1)).item<double>(), expected, 0.1);
  EXPECT_GT(expected, std::log(5.0 / 15));
}

/// A reference that says what the counts say leaves nothing to add.
TEST(CellTable, OnlyWhatTheReferenceLacksIsAdded) {
  const Samples top = repeated({300, 100}), bottom = repeated({100, 300});
  const auto exact = [](const Samples& side) {
    return (1 - 2 * side.x.select(1, 0)) * std::log(3.0);
  };
  EXPECT_TRUE(CellTable::fit(top, exact(top), bottom, exact(bottom), 0).empty());
  EXPECT_FALSE(counted(top, bottom).empty());
}

TEST(CellTable, EqualSidesHaveNone) {
  auto generator = Context{}.generator("equal sides");
  const Tensor shares = 1 / torch::arange(1, 31, torch::kFloat64);
  int64_t found = 0;
  for (int i = 0; i < 300; ++i)
    found += !counted(drawn(500, shares, generator), drawn(500, shares, generator)).empty();
  EXPECT_LE(found, 3);  // about one of 700 by chance
}

/// Of cells with few rows each the shrunk counts are better than the counts, and than nothing.
TEST(CellTable, ShrinkingBeatsBothEnds) {
  auto generator = Context{}.generator("shrinking");
  const int64_t cells = 50, n = 1000;
  double shrunk = 0, plain = 0, none = 0;
  for (int i = 0; i < 20; ++i) {
    const Tensor p = (0.4 * normal({cells}, torch::kFloat64, generator)).softmax(0);
    const Tensor q = torch::full({cells}, 1.0 / cells, torch::kFloat64);
    const Samples top = drawn(n, p, generator), bottom = drawn(n, q, generator);
    const auto count = [&](const Samples& side) {
      return at::bincount(side.x.select(1, 0).to(torch::kInt64), {}, cells).to(torch::kFloat64);
    };
    const Tensor exact = (p / q).log();
    const auto error = [&](const Tensor& guess) {
      return (q * (guess - exact).square()).sum().item<double>();
    };
    shrunk += error(counted(top, bottom).deviation(levels(cells)));
    plain += error(((count(top) + 0.5) / (count(bottom) + 0.5)).log());
    none += error(torch::zeros_like(exact));
  }
  EXPECT_LT(shrunk, 0.8 * plain);
  EXPECT_LT(shrunk, 0.6 * none);
}

TEST(CellTable, WeightsCountAsRows) {
  const Samples bottom = repeated({100, 100, 200});
  const Samples twice = make_samples(
      repeated({100, 100, 100}).x,
      torch::cat({torch::full({100}, 2, torch::kFloat64), torch::ones({200}, torch::kFloat64)}));
  const Tensor by_weight = counted(twice, bottom).deviation(levels(3));
  const Tensor by_rows = counted(repeated({200, 100, 100}), bottom).deviation(levels(3));
  EXPECT_LT((by_weight - by_rows).abs().max().item<double>(), 0.05);
}

TEST(CellTable, RowsNeverSeenAndLastDigits) {
  const CellTable table = counted(repeated({300, 100}), repeated({100, 300}));
  const Tensor z = torch::tensor({{1.0}, {1.0 + 1e-12}, {0.5}, {7.0}}, torch::kFloat64);
  const Tensor found = table.deviation(z);
  EXPECT_NE(found[0].item<double>(), 0);
  EXPECT_EQ(found[0].item<double>(), found[1].item<double>());
  EXPECT_EQ(found[2].item<double>(), 0);
  EXPECT_EQ(found[3].item<double>(), 0);
}

TEST(CellTable, RowsThatHardlyRepeatAreNotCounted) {
  EXPECT_FALSE(counted(repeated({9, 1}), repeated({1, 9}), 0).empty());
  EXPECT_TRUE(counted(repeated({9, 1, 0}), repeated({0, 8, 1}), 0).empty());
}

TEST(CellTable, FarFromTheReferenceStaysFinite) {
  const Samples top = repeated({300, 100}), bottom = repeated({100, 300});
  const auto far = [](const Samples& side) { return 1e4 * (2 * side.x.select(1, 0) - 1); };
  const CellTable table = CellTable::fit(top, far(top), bottom, far(bottom), 3);
  const Tensor log_ratio = 1e4 * (2 * levels(2).squeeze(1) - 1) + table.deviation(levels(2));
  const Tensor exact = torch::tensor({std::log(3.0), -std::log(3.0)}, torch::kFloat64);
  EXPECT_LT((log_ratio - exact).abs().max().item<double>(), 0.1);  // the counts, not the reference
}

TEST(CellTable, ComesBackFromTensors) {
  const CellTable table = counted(repeated({300, 100}), repeated({100, 300}));
  const CellTable again = CellTable::load(table.tensors());
  EXPECT_TRUE(torch::equal(table.deviation(levels(3)), again.deviation(levels(3))));
  EXPECT_TRUE(CellTable::load({}).empty());
  NamedTensors damaged = table.tensors();
  damaged[0].second = damaged[0].second.slice(0, 1);
  EXPECT_THROW(CellTable::load(damaged), Error);
}

}  // namespace
}  // namespace dre
