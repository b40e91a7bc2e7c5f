#include "dre/numeric/ridge.h"

#include <gtest/gtest.h>

#include <cmath>

#include "dre/base/error.h"

namespace dre {
namespace {

Tensor grid(int64_t n) { return torch::linspace(0, 1, n, torch::kFloat64); }

TEST(Ridge, WithoutPenaltyItReproducesPolynomials) {
  const Tensor t = grid(30);
  const Tensor y = 1 - 2 * t + 0.5 * t.pow(3) + 4 * t.pow(4);
  const Polynomial fit = fit_ridge(t, y, 4, 0);
  const Tensor exact = torch::tensor({1.0, -2.0, 0.0, 0.5, 4.0}, torch::kFloat64);
  EXPECT_LT((fit.coefficients - exact).abs().max().item<double>(), 1e-10);
  EXPECT_LT((fit(t.view({5, 6})) - y.view({5, 6})).abs().max().item<double>(), 1e-12);
}

TEST(Ridge, SatisfiesItsOwnNormalEquations) {
  const Tensor t = grid(50), y = (5 * t).sin() + 3;
  for (const double penalty : {1e-3, 1.0, 100.0}) {
    const Polynomial fit = fit_ridge(t, y, 4, penalty);
    const Tensor residual = y - fit(t);
    EXPECT_NEAR(residual.sum().item<double>(), 0, 1e-10) << "the intercept is free";
    for (int64_t j = 1; j <= 4; ++j) {
      const double gradient = (residual * t.pow(j)).sum().item<double>();
      EXPECT_NEAR(gradient, penalty * fit.coefficients[j].item<double>(), 1e-9);
    }
  }
}

TEST(Ridge, OneSlopeInClosedForm) {
  const Tensor t = torch::tensor({-1.0, 0.0, 1.0}, torch::kFloat64);
  const Tensor y = torch::tensor({1.0, 3.0, 8.0}, torch::kFloat64);
  const Polynomial fit = fit_ridge(t, y, 1, 1.5);
  EXPECT_NEAR(fit.coefficients[0].item<double>(), 4, 1e-14);
  EXPECT_NEAR(fit.coefficients[1].item<double>(), 7 / (2 + 1.5), 1e-14);
}

TEST(Ridge, LimitsAndMisuse) {
  const Tensor t = grid(10), y = t.exp();
  const Polynomial flat = fit_ridge(t, y, 3, 1e12);
  EXPECT_NEAR(flat(t)[2].item<double>(), y.mean().item<double>(), 1e-9);
  EXPECT_NEAR(fit_ridge(t, y, 0, 1)(t)[7].item<double>(), y.mean().item<double>(), 1e-14);
  EXPECT_THROW(fit_ridge(t, y, 2, -1), Error);
  EXPECT_THROW(fit_ridge(t, grid(9), 2, 0), Error);
}

}  // namespace
}  // namespace dre
