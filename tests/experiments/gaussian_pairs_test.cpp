#include "experiments/mutual_information/gaussian_pairs.h"

#include <gtest/gtest.h>

#include <cmath>

#include "dre/base/error.h"
#include "dre/base/numbers.h"
#include "dre/numeric/statistics.h"
#include "experiments/infinitesimal_classifier/infinitesimal_classifier.h"
#include "experiments/training.h"

namespace dre::experiments {
namespace {

const Context context{torch::kCPU, torch::kFloat64, 5};

TEST(GaussianPairs, LogRatioIsThatOfTheTwoDensities) {
  const double rho = 0.6;
  const GaussianPairs pairs(4, rho);
  auto generator = context.generator("rows");
  const Tensor rows = normal({20, 4}, torch::kFloat64, generator);
  Tensor covariance = torch::eye(4, torch::kFloat64);
  for (const int i : {0, 1}) covariance[i][i + 2] = covariance[i + 2][i] = rho;
  const auto log_density = [&](const Tensor& matrix) {
    const Tensor quadratic = (rows.mm(at::linalg_inv(matrix)) * rows).sum(1);
    return -0.5 * quadratic - 0.5 * at::linalg_det(matrix).log();
  };
  const Tensor expected = log_density(covariance) - log_density(torch::eye(4, torch::kFloat64));
  EXPECT_LT((pairs.log_ratio(rows) - expected).abs().max().item<double>(), 1e-12);
}

TEST(GaussianPairs, MeanLogRatioOfJointRowsIsTheMutualInformation) {
  const GaussianPairs pairs(40, std::sqrt(1 - std::exp(-1.0)));
  EXPECT_NEAR(pairs.mutual_information(), 10, 1e-12);
  auto generator = context.generator("joint");
  const Tensor found = pairs.log_ratio(pairs.joint(20'000, torch::kFloat64, generator));
  EXPECT_NEAR(found.mean().item<double>(), 10, 4 * standard_error(found));
}

TEST(GaussianPairs, ShufflesKeepTheMarginalsAndBreakThePairs) {
  const GaussianPairs pairs(2, 0.95);
  const TrainData data = paired_sides(pairs, 5'000, 3, context);
  EXPECT_EQ(data.numerator.rows(), 4'500);
  EXPECT_EQ(data.denominator.rows(), 3 * 4'500);
  EXPECT_EQ(data.held_out_denominator.rows(), 500);
  const auto correlation = [](const Tensor& x) {
    return torch::corrcoef(x.t())[0][1].item<double>();
  };
  EXPECT_GT(correlation(data.numerator.x), 0.93);
  EXPECT_LT(std::abs(correlation(data.denominator.x)), 4 / std::sqrt(4'500.0));
  // The same values of y, in another order.
  const Tensor own = std::get<0>(data.numerator.x.select(1, 1).sort());
  const Tensor shuffled = std::get<0>(data.denominator.x.select(1, 1).narrow(0, 0, 4'500).sort());
  EXPECT_TRUE(torch::equal(own, shuffled));
}

TEST(GaussianPairs, OddDimensionsAreRefused) { EXPECT_THROW(GaussianPairs(3, 0.5), Error); }

/// N(m, v) against N(0, 1): the logit is quadratic with known coefficients.
TEST(QuadraticLogit, FindsTheLogRatioOfTwoGaussians) {
  const double m = 0.7, v = 0.5;
  auto generator = context.generator("classes");
  const Tensor before = normal({100'000}, torch::kFloat64, generator);
  const Tensor after = m + std::sqrt(v) * normal({100'000}, torch::kFloat64, generator);
  const auto found = numbers_of(quadratic_logit(before, after));
  EXPECT_NEAR(found[2], 0.5 * (1 - 1 / v), 0.02);
  EXPECT_NEAR(found[1], m / v, 0.03);
  EXPECT_NEAR(found[0], -0.5 * std::log(v) - m * m / (2 * v), 0.02);
}

}  // namespace
}  // namespace dre::experiments
