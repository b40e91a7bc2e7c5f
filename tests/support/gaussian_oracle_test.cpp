#include "tests/support/gaussian_oracle.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "dre/base/context.h"

namespace dre::oracle {
namespace {

Tensor vector(std::initializer_list<double> values) {
  return torch::tensor(std::vector<double>(values), torch::kFloat64);
}

GaussianOracle example() {
  const Tensor covariance = vector({2.0, 0.6, 0.6, 0.5}).reshape({2, 2});
  return {{vector({1.0, -0.5}), covariance}, diagonal(vector({-1.0, 0.3}), vector({0.7, 1.5}))};
}

Coefficients brownian(const Tensor& t) { return {1 - t, t, 2 * t * (1 - t)}; }

Coefficients trigonometric(const Tensor& t) {
  const Tensor angle = 0.5 * std::numbers::pi * t;
  return {angle.cos(), angle.sin(), 0 * t};
}

/// log N in two dimensions, written out.
double by_hand(double u, double v, double su, double sv, double correlation) {
  const double z0 = u / su, z1 = v / sv, rest = 1 - correlation * correlation;
  return -(z0 * z0 - 2 * correlation * z0 * z1 + z1 * z1) / (2 * rest) -
         std::log(2 * std::numbers::pi * su * sv * std::sqrt(rest));
}

TEST(GaussianOracle, DensityIsTheOneWrittenOut) {
  const Tensor x = vector({0.4, 1.1}).unsqueeze(0);
  const double expected = by_hand(0.4 - 1, 1.1 + 0.5, std::sqrt(2.0), std::sqrt(0.5), 0.6);
  EXPECT_NEAR(log_prob(example().numerator(), x).item<double>(), expected, 1e-12);
}

TEST(GaussianOracle, ScoresAreTheSlopesOfTheLogDensity) {
  const GaussianOracle oracle = example();
  const double h = 1e-5;
  for (const Path& path : {Path(brownian), Path(trigonometric)}) {
    const Tensor x = vector({0.2, 0.9, -1.5, 0.4, 3.0, -2.0}).reshape({3, 2});
    const Tensor t = vector({0.1, 0.5, 0.8}).unsqueeze(1);
    const Tensor in_time = (oracle.log_prob(path, x, t + h) - oracle.log_prob(path, x, t - h));
    EXPECT_TRUE(torch::allclose(oracle.time_score(path, x, t), in_time / (2 * h), 1e-7, 1e-7));
    const Tensor step = vector({0.0, h});
    const Tensor in_data = oracle.log_prob(path, x + step, t) - oracle.log_prob(path, x - step, t);
    EXPECT_TRUE(
        torch::allclose(oracle.data_score(path, x, t).select(1, 1), in_data / (2 * h), 1e-7, 1e-7));
  }
}

/// log r = - int_0^1 s dt, by Simpson's rule.
TEST(GaussianOracle, TimeScoreIntegratesToTheLogRatio) {
  const GaussianOracle oracle = example();
  const int64_t panels = 400;
  const Tensor t = torch::linspace(0, 1, panels + 1, torch::kFloat64).unsqueeze(1);
  Tensor weights = 2 + 2 * torch::arange(panels + 1).remainder(2).to(torch::kFloat64);
  weights[0] = weights[panels] = 1;
  const Tensor x = vector({0.7, -1.2}).unsqueeze(0);
  for (const Path& path : {Path(brownian), Path(trigonometric)}) {
    const Tensor s = oracle.time_score(path, x.expand({panels + 1, 2}), t);
    const double integral = s.dot(weights).item<double>() / (3 * panels);
    EXPECT_NEAR(-integral, oracle.log_ratio(x).item<double>(), 1e-6);
  }
}

TEST(GaussianOracle, PathMomentsAreThoseOfTheBridge) {
  const GaussianOracle oracle = example();
  auto generator = Context{torch::kCPU, torch::kFloat64, 3}.generator("bridge");
  const int64_t n = 40'000;
  const Tensor x0 = sample(oracle.numerator(), n, generator);
  const Tensor x1 = sample(oracle.denominator(), n, generator);
  const Tensor noise = normal({n, 2}, torch::kFloat64, generator);
  const Tensor x = 0.7 * x0 + 0.3 * x1 + std::sqrt(2 * 0.3 * 0.7) * noise;
  const Gaussian exact = oracle.at(brownian, vector({0.3}).unsqueeze(1));
  // 4 standard errors of means and covariances of variables with variance below 2.
  EXPECT_TRUE(torch::allclose(x.mean(0), exact.mean[0], 0, 4 * std::sqrt(2.0 / n)));
  EXPECT_TRUE(torch::allclose(x.t().cov(), exact.covariance[0], 0, 4 * 2 * std::sqrt(2.0 / n)));
}

TEST(GaussianOracle, DivergencesMatchTheTextbook) {
  const auto one = [](double mean, double variance) {
    return diagonal(vector({mean}), vector({variance}));
  };
  EXPECT_NEAR(kl(one(1, 4), one(0, 9)), std::log(1.5) + 5.0 / 18 - 0.5, 1e-12);
  EXPECT_NEAR(kl(example().numerator(), example().numerator()), 0, 1e-12);
  const Tensor covariance = vector({4.0, 1.5, 1.5, 1.0}).reshape({2, 2});
  EXPECT_NEAR(mutual_information(covariance, 1), -0.5 * std::log(1 - 0.5625), 1e-12);
}

}  // namespace
}  // namespace dre::oracle
