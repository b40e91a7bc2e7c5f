#include "dre/numeric/pareto.h"

#include <gtest/gtest.h>

#include <cmath>

#include "dre/base/error.h"

namespace dre {
namespace {

const Context kContext{torch::kCPU, torch::kFloat64, 21};

Tensor uniforms(int64_t n, const std::string& stream) {
  auto generator = kContext.generator(stream);
  return uniform({n}, kContext.options(), generator);
}

TEST(Pareto, RecoversShapeAndScale) {
  // The maximum likelihood estimator's standard error is (1 + k) / sqrt(n) for k > -1/2; the
  // quasi-Bayesian one is as good up to a bias of order 1/n.
  const int64_t n = 2000, repeats = 40;
  for (const double k : {-0.3, 0.1, 0.5, 0.9, 1.5}) {
    double shape = 0, scale = 0;
    for (int64_t i = 0; i < repeats; ++i) {
      const Tensor u = uniforms(n, text("k", k, "/", i));
      const ParetoFit fit = fit_pareto(pareto_quantile({k, 3}, u));
      shape += fit.k / repeats;
      scale += fit.sigma / repeats;
    }
    const double error = (1 + k) / std::sqrt(static_cast<double>(n * repeats));
    EXPECT_NEAR(shape, k, 4 * error + 2.0 / n) << k;
    EXPECT_NEAR(scale, 3, 4 * 3 * std::sqrt(2 * (1 + k) / (n * repeats)) + 6.0 / n) << k;
  }
}

TEST(Pareto, ShapeDoesNotDependOnTheScale) {
  const Tensor y = pareto_quantile({0.4, 1}, uniforms(300, "scale"));
  const ParetoFit fit = fit_pareto(y);
  for (const double scale : {1e-6, 1e6}) {
    const ParetoFit scaled = fit_pareto(scale * y);
    EXPECT_NEAR(scaled.k, fit.k, 1e-9);
    EXPECT_NEAR(scaled.sigma / scale, fit.sigma, 1e-9);
  }
}

TEST(Pareto, QuantileInvertsTheDistribution) {
  const Tensor p = torch::linspace(0, 0.99, 34, torch::kFloat64);
  for (const double k : {-0.5, 0.0, 1e-13, 0.7}) {
    const Tensor y = pareto_quantile({k, 2}, p);
    const Tensor back = std::abs(k) < 1e-12 ? 1 - (-y / 2).exp() : 1 - (1 + k * y / 2).pow(-1 / k);
    EXPECT_LT((back - p).abs().max().item<double>(), 1e-12) << k;
  }
}

TEST(Tail, ShapeOfParetoWeights) {
  // w = u^-k has a Pareto tail of shape k above any threshold; k̂ is drawn towards 0.5 by 10 points.
  const int64_t samples = 10000, tail = 300;
  for (const double k : {0.2, 0.5, 0.9}) {
    double mean = 0;
    for (int64_t i = 0; i < 20; ++i)
      mean += fit_tail(-k * uniforms(samples, text("w", k, "/", i)).log()).k / 20;
    const double expected = (tail * k + 5) / (tail + 10);
    EXPECT_NEAR(mean, expected, 4 * (1 + k) / std::sqrt(20.0 * tail) + 2.0 / tail) << k;
  }
}

TEST(Tail, SizeAndThreshold) {
  EXPECT_EQ(fit_tail(uniforms(100, "a")).tail, 20);
  EXPECT_EQ(fit_tail(uniforms(10000, "a")).tail, 300);
  EXPECT_NEAR(pareto_threshold(100), 0.5, 1e-15);
  EXPECT_NEAR(pareto_threshold(1000), 1 - 1.0 / 3, 1e-15);
  EXPECT_NEAR(pareto_threshold(1000000), 0.7, 1e-15);
  EXPECT_TRUE(fit_tail(0.01 * uniforms(1000, "bounded")).good());
  EXPECT_FALSE(fit_tail(-3 * uniforms(1000, "heavy").log()).good());
}

TEST(Tail, OnlyDifferencesOfLogWeightsMatter) {
  const Tensor log_weights = -0.6 * uniforms(500, "shift").log();
  const TailFit fit = fit_tail(log_weights), shifted = fit_tail(log_weights + 900);
  EXPECT_NEAR(fit.k, shifted.k, 1e-9);
  EXPECT_LT((shifted.smoothed - 900 - fit.smoothed).abs().max().item<double>(), 1e-9);
}

TEST(Tail, SmoothingKeepsTheBodyTheOrderAndTheBound) {
  const Tensor log_weights = -1.2 * uniforms(1000, "smooth").log();
  const TailFit fit = fit_tail(log_weights);
  const auto [sorted, order] = log_weights.sort();
  const Tensor smoothed = fit.smoothed.index_select(0, order);
  const int64_t body = 1000 - fit.tail;
  EXPECT_TRUE(torch::equal(smoothed.narrow(0, 0, body), sorted.narrow(0, 0, body)));
  EXPECT_GE((smoothed.narrow(0, 1, 999) - smoothed.narrow(0, 0, 999)).min().item<double>(), 0);
  EXPECT_LE(smoothed.max().item<double>(), sorted[999].item<double>());
  EXPECT_FALSE(torch::equal(smoothed, sorted));
}

TEST(Tail, SmoothingSteadiesTheMeanOfHeavyWeights) {
  // w = u^-0.8 has mean 5 and infinite variance.
  double raw = 0, smooth = 0;
  for (int64_t i = 0; i < 60; ++i) {
    const Tensor log_weights = -0.8 * uniforms(1000, text("mean", i)).log();
    raw += std::pow(log_weights.exp().mean().item<double>() - 5, 2);
    smooth += std::pow(fit_tail(log_weights).smoothed.exp().mean().item<double>() - 5, 2);
  }
  EXPECT_LT(smooth, 0.8 * raw);
}

/// Rows of a few categories have a few weights: bounded, whatever the order in which they fall.
TEST(Tail, WeightsInStepsHaveNoHeavyTail) {
  for (const double top : {0.02, 0.06, 0.3}) {  // share of the largest
    const Tensor u = uniforms(1000, "steps");
    const Tensor weights = torch::where(u < top, 2.0, torch::where(u < 0.6, 0.75, 0.33)) +
                           0.01 * (u * 5e4).fmod(5).floor();  // five models
    const TailFit fit = fit_tail(weights.log());
    EXPECT_TRUE(fit.good()) << top << ", k " << fit.k;
    EXPECT_TRUE(std::isnan(fit.k) || torch::equal(fit.smoothed, weights.log())) << top;
  }
  // Rare large ones matter as soon as they carry the mean.
  Tensor few = torch::zeros({1000}, torch::kFloat64);
  few.slice(0, 0, 3).fill_(std::log(1.5));
  EXPECT_TRUE(std::isnan(fit_tail(few).k));
  few.slice(0, 0, 3).fill_(std::log(1e4));
  EXPECT_FALSE(fit_tail(few).good());
}

TEST(Tail, DegenerateWeights) {
  const TailFit equal = fit_tail(torch::zeros({100}, torch::kFloat64));
  EXPECT_TRUE(std::isnan(equal.k));
  EXPECT_TRUE(torch::equal(equal.smoothed, torch::zeros({100}, torch::kFloat64)));
  Tensor one = torch::full({100}, -std::numeric_limits<double>::infinity(), torch::kFloat64);
  one[3] = 0;
  EXPECT_FALSE(fit_tail(one).good());
  EXPECT_THROW(fit_tail(torch::zeros({10})), Error);
  EXPECT_THROW(fit_tail(torch::full({100}, std::nan(""))), Error);
  EXPECT_THROW(fit_pareto(torch::zeros({10})), Error);
}

}  // namespace
}  // namespace dre
