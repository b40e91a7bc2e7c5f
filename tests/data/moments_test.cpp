#include "dre/data/moments.h"

#include <gtest/gtest.h>

#include <cmath>

#include "dre/base/context.h"
#include "dre/data/basis.h"

namespace dre {
namespace {

/// N(shift, scale²) over N(0, 1) in every column.
struct Task {
  int64_t d, rows;
  double shift, scale;
};

Tensor log_ratio(const Moments& m, const Tensor& z) {
  const auto log_normal = [&](const Tensor& mean, const Tensor& variance) {
    return -0.5 * ((z - mean).square() / variance + variance.log()).sum(1);
  };
  return log_normal(m.mean0, m.variance0) - log_normal(m.mean1, m.variance1);
}

struct Errors {
  double sample = 0, pooled = 0, shrunk = 0;  ///< mean square error of log r
  double size = 0;                            ///< mean |log r| after shrinking
};

Errors errors_of(const Task& task, int seeds) {
  Errors sum;
  for (int seed = 0; seed < seeds; ++seed) {
    auto g = Context{torch::kCPU, torch::kFloat64, static_cast<uint64_t>(seed)}.generator("x");
    const auto side = [&](int64_t n, double scale, double shift) {
      return normal({n, task.d}, torch::kFloat64, g) * scale + shift;
    };
    const Samples top = make_samples(side(task.rows, task.scale, task.shift));
    const Samples bottom = make_samples(side(task.rows, 1, 0));
    const Tensor x = torch::cat({side(1000, task.scale, task.shift), side(1000, 1, 0)});
    const Tensor exact =
        (-0.5 * ((x - task.shift) / task.scale).square() - std::log(task.scale) + 0.5 * x.square())
            .sum(1);
    const Basis basis = Basis::fit(top, bottom);
    const Tensor z = basis.forward(x);
    const auto error = [&](const Moments& m) {
      return (log_ratio(m, z) - exact).square().mean().item<double>() / seeds;
    };
    const Moments m = basis.moments();
    const Tensor one = torch::ones_like(m.mean0);
    const auto n = static_cast<double>(task.rows);
    const Moments shrunk = threshold(m, n, n);
    sum.sample += error(m);
    sum.pooled += error({m.mean0, one, m.mean1, one});
    sum.shrunk += error(shrunk);
    sum.size += log_ratio(shrunk, z).abs().mean().item<double>() / seeds;
  }
  return sum;
}

TEST(Threshold, ANullPairHasAlmostNoRatio) {
  const Errors errors = errors_of({10, 10000, 0, 1}, 10);
  EXPECT_LT(errors.size, 0.02);  // 0.009 expected; 0.035 pooled without shrinking the means
  EXPECT_LT(errors.shrunk, 0.3 * errors.pooled);
}

TEST(Threshold, AFarPairIsAsGoodAsPooled) {
  const Errors errors = errors_of({2, 4000, 4, 1}, 20);
  EXPECT_LT(errors.shrunk, 1.1 * errors.pooled);
  EXPECT_LT(errors.shrunk, 0.8 * errors.sample);
}

TEST(Threshold, RealDifferencesOfScaleStay) {
  for (const Task& task : {Task{10, 3000, 0, 1.1}, Task{2, 3000, 0, 2}, Task{30, 1000, 0.2, 1.5}}) {
    const Errors errors = errors_of(task, 8);
    EXPECT_LT(errors.shrunk, errors.sample) << task.d;
    EXPECT_LT(errors.shrunk, 0.2 * errors.pooled) << task.d;
  }
}

Moments moments_of(std::vector<double> delta, std::vector<double> half_gap) {
  const Tensor d = torch::tensor(delta, torch::kFloat64);
  const Tensor m = torch::tensor(half_gap, torch::kFloat64);
  return {m, 1 + d, -m, 1 - d};
}

TEST(Threshold, OneClearDifferenceAmongMany) {
  // n = 1000, d = 4: the edge is at 0.089.
  const Moments m = threshold(moments_of({0.5, 0.03, -0.02, 0.01}, {0, 0, 0, 0}), 1000, 1000);
  const Tensor delta = (m.variance0 - m.variance1) / 2;
  EXPECT_NEAR(delta[0].item<double>(), 0.5, 0.02);
  EXPECT_LT(delta.slice(0, 1).abs().max().item<double>(), 0.03);
  EXPECT_NEAR((m.variance0 + m.variance1 - 2).abs().max().item<double>(), 0, 1e-15);
}

TEST(Threshold, ManyRowsChangeNothing) {
  const Moments before = moments_of({0.5, -0.2, 0.1, 0.3}, {1, 0.1, 0, -0.3});
  const Moments after = threshold(before, 1e12, 1e12);
  EXPECT_TRUE(torch::allclose(after.variance0, before.variance0, 1e-9, 1e-9));
  EXPECT_TRUE(torch::allclose(after.mean1, before.mean1, 1e-9, 1e-9));
}

TEST(Threshold, TheLargerSideKnowsTheCommonMoments) {
  // Differences that 10 rows cannot support: both sides get what the million rows say.
  const Moments before = moments_of({0.2, -0.2, 0.1}, {0.1, -0.1, 0.05});
  const Moments after = threshold(before, 10, 1e6);
  for (const Tensor& variance : {after.variance0, after.variance1})
    EXPECT_TRUE(torch::allclose(variance, before.variance1, 0, 1e-4));
  EXPECT_TRUE(torch::allclose(after.mean1, before.mean1, 0, 1e-4));
  EXPECT_LT((after.mean0 - before.mean1).abs().max().item<double>(), 0.15);
}

TEST(Threshold, AFlatSideHasThePooledVariance) {
  const Moments m = threshold(moments_of({1, 0, 0}, {0, 0, 0}), 1000, 1000);
  EXPECT_NEAR(m.variance1[0].item<double>(), 1, 1e-12);
  EXPECT_TRUE(m.variance1.isfinite().all().item<bool>());
}

TEST(Threshold, MeansFollowJamesAndStein) {
  // Each Δ has variance 1/100 + 1/100.
  const Moments m = threshold(moments_of({0, 0, 0, 0, 0}, {0.2, 0, 0, 0, 0}), 100, 100);
  const double evidence = 0.4 * 0.4 / 0.02;
  EXPECT_NEAR(m.mean0[0].item<double>(), 0.2 * (1 - 3 / evidence), 1e-12);
  EXPECT_NEAR(m.mean1[0].item<double>(), -0.2 * (1 - 3 / evidence), 1e-12);
  // Two dimensions: never touched.
  const Moments flat = threshold(moments_of({0, 0}, {0.001, 0}), 100, 100);
  EXPECT_NEAR(flat.mean0[0].item<double>(), 0.001, 1e-15);
}

}  // namespace
}  // namespace dre
