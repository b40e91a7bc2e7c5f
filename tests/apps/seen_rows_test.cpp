#include <gtest/gtest.h>

#include <cmath>

#include "dre/apps/divergence.h"
#include "dre/base/error.h"
#include "dre/numeric/statistics.h"
#include "tests/apps/numeric_sides.h"

namespace dre::testing {
namespace {

/// Out-of-fold log-ratios of N(s/2, I) against N(-s/2, I), log r = s . x, by the difference of the
/// means of the other folds, and those of the rows that made them.
struct ShiftedTable {
  struct Side {
    Tensor x, fold, f, rows, seen;
  };
  Side top, bottom;

  ShiftedTable(int64_t n0, int64_t n1, int64_t d, double shift, at::Generator& generator) {
    const int64_t folds = 5;
    const auto draw = [&](int64_t n, double mean) -> Side {
      const Tensor x = normal({n, d}, torch::kFloat64, generator);
      x.select(1, 0) += mean;
      return {x, torch::arange(n) % folds, torch::empty({n}, torch::kFloat64), {}, {}};
    };
    top = draw(n0, shift / 2), bottom = draw(n1, -shift / 2);
    std::vector<Tensor> rows0, rows1, seen0, seen1;
    for (int64_t k = 0; k < folds; ++k) {
      rows0.push_back((top.fold != k).nonzero().squeeze(1));
      rows1.push_back((bottom.fold != k).nonzero().squeeze(1));
      const Tensor x0 = top.x.index_select(0, rows0[k]), x1 = bottom.x.index_select(0, rows1[k]);
      const Tensor slope = x0.mean(0) - x1.mean(0);
      for (Side* side : {&top, &bottom})
        side->f = torch::where(side->fold == k, side->x.mv(slope), side->f);
      seen0.push_back(x0.mv(slope)), seen1.push_back(x1.mv(slope));
    }
    top.rows = at::cat(rows0), bottom.rows = at::cat(rows1);
    top.seen = at::cat(seen0), bottom.seen = at::cat(seen1);
  }

  TwoScores f() const { return {top.f, {}, bottom.f, {}}; }

  Divergences before() const { return measure_divergences(f(), top.fold, bottom.fold, 0.1, 0.9); }

  /// With a model of half of the rows that is as good.
  Divergences after() const {
    Divergences found = before();
    const RowsOfSides all{torch::arange(top.f.size(0)), torch::arange(bottom.f.size(0))};
    allow_for_bias(found, f(), {f(), all},
                   {{top.seen, {}, bottom.seen, {}}, {top.rows, bottom.rows}});
    return found;
  }
};

/// Values before and after the correction, table after table.
struct Corrected {
  std::vector<double> before, after;

  void add(const Divergence& first, const Divergence& second) {
    before.push_back(first.value), after.push_back(second.value);
    EXPECT_EQ(first.low, second.low);
  }

  void expect_mended(double truth) const {
    const Tensor first = torch::tensor(before, torch::kFloat64);
    const Tensor second = torch::tensor(after, torch::kFloat64);
    const double gap = truth - first.mean().item<double>();
    EXPECT_GT(gap, 0.1 * truth);
    // Values that are not quite sure are not quite corrected.
    EXPECT_NEAR(second.mean().item<double>(), truth, 0.1 * gap + 3 * standard_error(second));
  }
};

TEST(SeenRows, TellWhatOthersAreMissing) {
  // 30 estimated numbers of which one is not zero: a fifth of KL is missing, also where nearly all
  // that is uncertain comes from one side.
  const double kl = 0.15, js = 0.0361583;
  for (const int64_t n1 : {1000, 8000}) {
    const int64_t n0 = n1 == 1000 ? 1000 : 550, d = 30;
    Corrected forward, backward, middle;
    double raised = 0, excess = 0;
    for (uint64_t table = 0; table < 100; ++table) {
      auto generator = stream("seen", table);
      const ShiftedTable rated(n0, n1, d, std::sqrt(2 * kl), generator);
      const Divergences before = rated.before(), after = rated.after();
      forward.add(before.kl_numerator_denominator, after.kl_numerator_denominator);
      backward.add(before.kl_denominator_numerator, after.kl_denominator_numerator);
      middle.add(before.jensen_shannon, after.jensen_shannon);
      EXPECT_EQ(after.total_variation.value, before.total_variation.value);
      raised += after.total_variation.high - before.total_variation.high;
      excess += 0.2158088 - before.total_variation.value;
    }
    forward.expect_mended(kl);
    backward.expect_mended(kl);
    middle.expect_mended(js);
    EXPECT_NEAR(raised, 2 * excess, 0.5 * excess);
  }
}

TEST(SeenRows, MakeNothingOfEqualSides) {
  int corrected = 0;
  double raised = 0;
  for (uint64_t table = 0; table < 50; ++table) {
    auto generator = stream("seen equal", table);
    const ShiftedTable rated(300, 300, 10, 0, generator);
    const Divergences before = rated.before(), after = rated.after();
    corrected += after.jensen_shannon.value != before.jensen_shannon.value;
    raised += after.kl_numerator_denominator.high - before.kl_numerator_denominator.high;
  }
  EXPECT_LE(corrected, 5);
  EXPECT_LT(raised / 50, 0.03);  // 10 numbers of 480 rows are worth 0.02
}

TEST(SeenRows, RaiseTheUpperEndOnlyWithoutALine) {
  auto generator = stream("seen few");
  const ShiftedTable rated(60, 60, 10, 2, generator);
  const Divergences before = rated.before(), after = rated.after();
  ASSERT_FALSE(before.calibration.inverse_information.defined());
  EXPECT_EQ(after.kl_numerator_denominator.value, before.kl_numerator_denominator.value);
  EXPECT_GT(after.jensen_shannon.high, before.jensen_shannon.high);
}

TEST(HalfTheRows, MustHaveFiniteLogRatios) {
  auto generator = stream("half");
  const ShiftedTable rated(300, 300, 2, 1, generator);
  Divergences found = rated.before();
  TwoScores half = rated.f();
  half.f0 = half.f0.index_fill(0, torch::zeros({1}, torch::kInt64), NAN);
  const RowsOfSides all{torch::arange(300), torch::arange(300)};
  EXPECT_THROW(allow_for_bias(found, rated.f(), {half, all}, {}), Error);
}

}  // namespace
}  // namespace dre::testing
