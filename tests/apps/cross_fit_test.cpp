#include "dre/apps/cross_fit.h"

#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <cmath>

#include "dre/apps/divergence.h"
#include "dre/numeric/statistics.h"
#include "tests/apps/numeric_sides.h"

namespace dre::testing {
namespace {

TEST(CrossFit, EveryRowIsRatedByAModelThatDidNotSeeIt) {
  auto generator = stream("cross-fit");
  const Tensor a = rows(101, 2, 0.5, generator), b = rows(90, 2, 0, generator);
  const Sides sides = numeric_sides(a, b);
  CrossFitOptions options;
  options.folds = 3;
  Progress silent;
  const CrossFit rated = cross_fit(sides.numerator, sides.denominator, sides.names, options,
                                   reference_alone(1), silent);
  ASSERT_EQ(rated.fits.size(), 3);
  for (int64_t k = 0; k < 3; ++k) {
    const Tensor mine = (rated.numerator.fold == k).nonzero().squeeze(1);
    EXPECT_NEAR(static_cast<double>(mine.size(0)), 101.0 / 3, 1);
    EXPECT_TRUE(torch::allclose(
        rated.fits[static_cast<size_t>(k)].estimator.log_ratio(a.index_select(0, mine)).log_ratio,
        rated.numerator.log_ratio.index_select(0, mine), 1e-9, 1e-9));
  }
  // The same seed gives the same numbers, whatever the number of threads.
  const int threads = at::get_num_threads();
  at::set_num_threads(3);
  const CrossFit again = cross_fit(sides.numerator, sides.denominator, sides.names, options,
                                   reference_alone(1), silent);
  at::set_num_threads(threads);
  EXPECT_TRUE(again.denominator.log_ratio.equal(rated.denominator.log_ratio));
}

/// Rows that trained a model, without those that judged it, model after model.
TEST(CrossFit, SeenRowsAreThoseThatTrainedEachModel) {
  auto generator = stream("seen rows");
  Sides sides = numeric_sides(rows(101, 2, 0.5, generator), rows(90, 2, 0, generator));
  sides.numerator.weight = (torch::arange(101, torch::kFloat64) % 4);  // a quarter has none
  CrossFitOptions options;
  options.folds = 3;
  options.fit_rows = 50;
  Progress silent;
  const CrossFit rated = cross_fit(sides.numerator, sides.denominator, sides.names, options,
                                   reference_alone(1), silent);
  const SomeScores seen = rate_seen(rated, sides.numerator, sides.denominator, generator);
  int64_t done0 = 0, done1 = 0;
  const auto expect_next = [](const Tensor& x, const OutOfFold& folds, const Tensor& rows,
                              const Tensor& f, const Estimator& estimator, int64_t fold,
                              int64_t& done, int64_t count) {
    const Tensor own = rows.slice(0, done, done + count);
    EXPECT_TRUE((folds.fold.index_select(0, own) != fold).all().item<bool>());
    EXPECT_EQ(std::get<0>(at::_unique(own)).size(0), count);
    EXPECT_TRUE(torch::allclose(f.slice(0, done, done + count),
                                estimator.log_ratio(x.index_select(0, own)).log_ratio, 1e-9, 1e-9));
    done += count;
  };
  for (int64_t k = 0; k < 3; ++k) {
    const FitResult& fit = rated.fits[static_cast<size_t>(k)];
    const RowsOfSides& trained = rated.trained[static_cast<size_t>(k)];
    EXPECT_EQ(trained.numerator.size(0), 50 - fit.held_out_numerator.size(0));
    const auto weighty =
        (sides.numerator.weight.index_select(0, trained.numerator) > 0).sum().item<int64_t>();
    EXPECT_LT(weighty, trained.numerator.size(0));
    expect_next(sides.numerator.x, rated.numerator, seen.rows.numerator, seen.scores.f0,
                fit.estimator, k, done0, weighty);
    expect_next(sides.denominator.x, rated.denominator, seen.rows.denominator, seen.scores.f1,
                fit.estimator, k, done1, trained.denominator.size(0));
  }
  EXPECT_EQ(seen.rows.numerator.size(0), done0);
  EXPECT_EQ(seen.rows.denominator.size(0), done1);
  const Tensor weight = sides.numerator.weight.index_select(0, seen.rows.numerator);
  EXPECT_TRUE(torch::allclose(seen.scores.weight0, weight / weight.mean(), 1e-9, 1e-9));
  EXPECT_FALSE(seen.scores.weight1.defined());
}

/// In each table the third column is the sum of the others, but for three rows, each of whose
/// values is as ordinary as any.
TEST(CrossFit, AFewRowsThatBreakARuleDoNotSpoilAllOthers) {
  const int64_t n = 1000;
  auto generator = stream("rule");
  const auto draw = [&](double mean) {
    Tensor x = rows(n, 3, 0, generator);
    x.select(1, 0) += mean;
    x.slice(0, 3).select(1, 2) = x.slice(0, 3).slice(1, 0, 2).sum(1);
    return x;
  };
  const Sides sides = numeric_sides(draw(1), draw(0));
  Progress silent;
  const CrossFit rated =
      cross_fit(sides.numerator, sides.denominator, sides.names, {}, reference_alone(1), silent);
  EXPECT_GT(rated.refuted0 + rated.refuted1, 0);
  EXPECT_LE(rated.refuted0 + rated.refuted1, 12);
  ASSERT_EQ(judge_ratios(rated).size(), 1);
  EXPECT_EQ(judge_ratios(rated)[0].code, "refuted-ratios");
  for (const OutOfFold* side : {&rated.numerator, &rated.denominator})
    EXPECT_LT(side->log_ratio.abs().slice(0, 0, 3).max().item<double>(), 100);
  // KL of N(1, 1) from N(0, 1), to which the sum of the columns adds nothing.
  const TwoScores f{rated.numerator.log_ratio, {}, rated.denominator.log_ratio, {}};
  const Tensor g0 = calibrate(f)(f.f0);
  EXPECT_NEAR(weighted_mean(g0), 0.5, 4 * standard_error(g0));
  // Seen rows are rated likewise.
  const SomeScores seen = rate_seen(rated, sides.numerator, sides.denominator, generator);
  EXPECT_LT(seen.scores.f0.abs().max().item<double>(), 100);
}

TEST(CrossFit, WithoutAReferenceAllIsLearned) {
  auto generator = stream("no reference");
  const Sides sides = numeric_sides(rows(300, 2, 0.7, generator), rows(300, 2, 0, generator));
  FitOptions fit = small_network(1);
  fit.reference = "none";
  Progress silent;
  const CrossFit rated =
      cross_fit(sides.numerator, sides.denominator, sides.names, {}, fit, silent);
  EXPECT_EQ(rated.share, 1);
  EXPECT_FALSE(rated.fits.empty());
  for (const auto& one : rated.fits) EXPECT_EQ(kept_weight(one), 1);
}

}  // namespace
}  // namespace dre::testing
