#include "dre/numeric/statistics.h"

#include <gtest/gtest.h>

#include <cmath>

#include "dre/base/error.h"

namespace dre {
namespace {

Tensor of(std::vector<double> values) { return torch::tensor(values, torch::kFloat64); }

Tensor draws(int64_t n, const std::string& stream) {
  const Context context{torch::kCPU, torch::kFloat64, 11};
  auto generator = context.generator(stream);
  return normal({n}, context.options(), generator);
}

TEST(Statistics, SmallCasesByHand) {
  const Tensor x = of({1, 2, 4}), w = of({1, 1, 2});
  EXPECT_DOUBLE_EQ(weighted_mean(x), 7.0 / 3);
  EXPECT_DOUBLE_EQ(weighted_mean(x, w), 11.0 / 4);
  EXPECT_NEAR(weighted_variance(x, w), (1 + 4 + 32) / 4.0 - 121.0 / 16, 1e-15);
  EXPECT_NEAR(standard_error(x), std::sqrt(7.0 / 3 / 3), 1e-15);
  EXPECT_DOUBLE_EQ(effective_sample_size(w), 16.0 / 6);
  EXPECT_NEAR(log_mean_exp(of({0, std::log(3)}), of({3, 1})), std::log(1.5), 1e-15);
}

TEST(Statistics, WholeWeightsRepeatRows) {
  const Tensor x = draws(40, "x");
  auto generator = Context{torch::kCPU, torch::kFloat64, 2}.generator("w");
  const Tensor times = (4 * uniform({40}, x.options(), generator)).floor().to(torch::kInt64);
  const Tensor repeated = x.repeat_interleave(times), w = times.to(torch::kFloat64);
  EXPECT_NEAR(weighted_mean(x, w), weighted_mean(repeated), 1e-14);
  EXPECT_NEAR(weighted_variance(x, w), weighted_variance(repeated), 1e-14);
  EXPECT_NEAR(log_mean_exp(x, w), log_mean_exp(repeated), 1e-14);
  const Tensor other = draws(30, "other");
  EXPECT_NEAR(auc(x, other, w), auc(repeated, other), 1e-14);
  EXPECT_NEAR(auc(other, x, {}, w), auc(other, repeated), 1e-14);
}

TEST(Statistics, ScaleOfTheWeightsDoesNotMatter) {
  const Tensor x = draws(50, "x"), w = draws(50, "w").exp();
  for (const double scale : {1e-200, 7.0, 1e200}) {
    EXPECT_NEAR(weighted_mean(x, w * scale), weighted_mean(x, w), 1e-13);
    EXPECT_NEAR(standard_error(x, w * scale), standard_error(x, w), 1e-13);
    EXPECT_NEAR(effective_sample_size(w * scale), effective_sample_size(w), 1e-10);
  }
  EXPECT_NEAR(effective_sample_size(torch::ones({9})), 9, 1e-12);
  EXPECT_NEAR(effective_sample_size(of({0, 5, 0})), 1, 1e-15);
}

/// Shares that sum to 1 do so up to rounding only.
TEST(Statistics, AucStaysInItsRange) {
  for (int64_t n = 2; n < 200; ++n) {
    const Tensor w = draws(n, "w").exp(), one = torch::ones({n}, torch::kFloat64);
    EXPECT_LE(auc(one, -one, w, w.flip(0)), 1);
    EXPECT_LE(auc(one, -one), 1);
    EXPECT_GE(auc(-one, one, w, w.flip(0)), 0);
  }
  EXPECT_TRUE(std::isnan(as_share(std::nan(""))));
}

TEST(Statistics, StandardErrorIsTheSpreadOfTheMean) {
  // 2000 means of 50 weighted draws; the ratio of variances has a standard error of 3 %.
  const Tensor x = draws(100000, "x").view({2000, 50}), w = draws(50, "w").exp();
  const Tensor means = (x * w).sum(1) / w.sum();
  double predicted = 0;
  for (int64_t i = 0; i < 400; ++i) predicted += std::pow(standard_error(x[i], w), 2) / 400;
  const double ratio = predicted / means.var().item<double>();
  EXPECT_NEAR(ratio, 1, 0.15);
}

TEST(Statistics, ScaledWeightsLeaveOutRowsOfWeightZero) {
  const Tensor found = scaled_weights(of({-2000, 5000, -2001}), of({2, 0, 1}));
  EXPECT_DOUBLE_EQ(found[0].item<double>(), 2);
  EXPECT_EQ(found[1].item<double>(), 0);
  EXPECT_NEAR(found[2].item<double>(), std::exp(-1), 1e-15);
}

TEST(Statistics, LogMeanExpDoesNotOverflow) {
  EXPECT_NEAR(log_mean_exp(of({1000, 1000})), 1000, 1e-12);
  EXPECT_NEAR(log_mean_exp(of({-2000, -2000, -2000})), -2000, 1e-12);
  const double none = -std::numeric_limits<double>::infinity();
  EXPECT_NEAR(log_mean_exp(of({none, 0})), std::log(0.5), 1e-15);
  EXPECT_NEAR(log_mean_exp(of({5, 0}), of({0, 1})), 0, 1e-15);
}

TEST(Statistics, Quantiles) {
  const Tensor x = of({3, 1, 2, 10});
  EXPECT_DOUBLE_EQ(sample_quantile(x, 0), 1);
  EXPECT_DOUBLE_EQ(sample_quantile(x, 1), 10);
  EXPECT_DOUBLE_EQ(sample_quantile(x, 0.5), 2.5);
  EXPECT_DOUBLE_EQ(sample_quantile(x, 0.25), 1.75);
  EXPECT_DOUBLE_EQ(sample_quantile(of({7}), 0.3), 7);
  EXPECT_THROW(sample_quantile(x, 1.1), Error);
  EXPECT_THROW(sample_quantile(of({1, std::nan("")}), 0.5), Error);
}

TEST(Statistics, AucCountsPairsAndHalvesTies) {
  EXPECT_DOUBLE_EQ(auc(of({2, 3}), of({0, 1})), 1);
  EXPECT_DOUBLE_EQ(auc(of({1, 1, 1}), of({1, 1})), 0.5);
  EXPECT_DOUBLE_EQ(auc(of({1, 2}), of({1, 3})), (0.5 + 0 + 1 + 0) / 4);
  const Tensor a = (2 * draws(60, "a")).round(), b = (2 * draws(45, "b")).round();
  const Tensor wa = draws(60, "wa").exp(), wb = draws(45, "wb").exp();
  const Tensor difference = a.unsqueeze(1) - b;
  const Tensor wins = (difference > 0).to(torch::kFloat64) + (difference == 0) * 0.5;
  const double brute =
      ((wins * wb).sum(1) * wa).sum().item<double>() / (wa.sum() * wb.sum()).item<double>();
  EXPECT_NEAR(auc(a, b, wa, wb), brute, 1e-14);
  EXPECT_NEAR(auc(a, b, wa, wb) + auc(b, a, wb, wa), 1, 1e-14);
  EXPECT_NEAR(auc(a.exp(), b.exp(), wa, wb), brute, 1e-14);
}

TEST(Statistics, AucErrorIsTheSpreadOverAllOrders) {
  // Two of five rows are positive; all ten choices are as likely.
  std::vector<double> found;
  for (int i = 0; i < 5; ++i)
    for (int j = 0; j < i; ++j) {
      const Tensor values = torch::arange(5, torch::kFloat64);
      const Tensor positive = (values == i) | (values == j);
      found.push_back(auc(values.masked_select(positive), values.masked_select(~positive)));
    }
  const Tensor all = torch::tensor(found, torch::kFloat64);
  EXPECT_NEAR(weighted_mean(all), 0.5, 1e-15);
  EXPECT_NEAR(auc_error(2, 3), std::sqrt(weighted_variance(all)), 1e-15);
}

TEST(Statistics, RankCorrelation) {
  EXPECT_TRUE(torch::equal(ranks(of({10, 20, 10, 5})), of({2.5, 4, 2.5, 1})));
  const Tensor x = draws(30, "x");
  EXPECT_NEAR(rank_correlation(x, x.exp()), 1, 1e-14);
  EXPECT_NEAR(rank_correlation(x, -x.pow(3)), -1, 1e-14);
  EXPECT_NEAR(rank_correlation(of({1, 2, 3}), of({1, 3, 2})), 0.5, 1e-14);
  EXPECT_NEAR(rank_correlation(of({1, 1, 2}), of({1, 2, 3})), std::sqrt(3) / 2, 1e-14);
  EXPECT_TRUE(std::isnan(rank_correlation(x, torch::ones_like(x))));
}

TEST(Statistics, MisuseIsRefused) {
  EXPECT_THROW(weighted_mean(of({})), Error);
  EXPECT_THROW(weighted_mean(of({1, 2}), of({1})), Error);
  EXPECT_THROW(weighted_mean(of({1, 2}), of({1, -1})), Error);
  EXPECT_THROW(effective_sample_size(of({0, 0})), Error);
  EXPECT_THROW(standard_error(of({1})), Error);
}

TEST(Statistics, DistanceFromUniform) {
  // One point at x is max(x, 1 - x) away; n points in the middles of n equal parts 1 / (2 n).
  EXPECT_NEAR(distance_from_uniform(torch::tensor({0.3}, torch::kFloat64)), 0.7, 1e-15);
  EXPECT_NEAR(distance_from_uniform(torch::tensor({0.875, 0.125, 0.625, 0.375}, torch::kFloat64)),
              0.125, 1e-15);
}

}  // namespace
}  // namespace dre
