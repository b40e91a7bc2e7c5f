#include "dre/density/gaussian_density.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "dre/base/error.h"
#include "dre/data/mnist.h"
#include "tests/data/files.h"

namespace dre {
namespace {

const Context context{torch::kCPU, torch::kFloat64, 3};

Tensor correlated_rows(int64_t n, int64_t d) {
  auto generator = context.generator("rows");
  const Tensor mix = normal({d, d}, torch::kFloat64, generator);
  return normal({n, d}, torch::kFloat64, generator).matmul(mix) + torch::arange(d) * 100;
}

TEST(GaussianFit, BlocksGiveTheMomentsOfAllRows) {
  const Tensor rows = correlated_rows(500, 4);
  GaussianFit fit;
  for (const auto& block : rows.split(77)) fit.add(block);
  const GaussianDensity density = fit.density(context);
  const Tensor centred = rows - rows.mean(0);
  EXPECT_TRUE(torch::allclose(at(density.tensors(), "mean"), rows.mean(0), 1e-12));
  EXPECT_TRUE(torch::allclose(at(density.tensors(), "covariance"),
                              centred.t().matmul(centred) / 500, 1e-10, 1e-10));
}

TEST(GaussianFit, LatentRowsAreWhiteAndTheMapIsSymmetric) {
  const Tensor rows = correlated_rows(500, 4);
  GaussianFit fit;
  fit.add(rows);
  const GaussianDensity density = fit.density(context);
  const Tensor z = density.to_latent(rows).point;
  EXPECT_TRUE(torch::allclose(z.t().matmul(z) / 500, torch::eye(4, torch::kFloat64), 1e-9, 1e-9));
  const Tensor map = density.to_latent(torch::eye(4, torch::kFloat64)).point -
                     density.to_latent(torch::zeros({1, 4}, torch::kFloat64)).point;
  EXPECT_TRUE(torch::allclose(map, map.t(), 1e-9, 1e-9));
}

TEST(GaussianDensity, LogDensityIsTheTextbookOne) {
  const Tensor mean = torch::tensor({1.0, -2.0}, torch::kFloat64);
  const Tensor covariance = torch::tensor({2.0, 0.6, 0.6, 0.5}, torch::kFloat64).view({2, 2});
  const GaussianDensity density(mean, covariance, context);
  const Tensor x = correlated_rows(20, 2), centred = x - mean;
  const Tensor quadratic = centred.matmul(torch::inverse(covariance)).mul(centred).sum(1);
  const double determinant = 2.0 * 0.5 - 0.6 * 0.6;
  const Tensor expected = -0.5 * (quadratic + std::log(determinant) + 2 * std::log(2 * M_PI));
  EXPECT_TRUE(torch::allclose(density.log_prob(x), expected, 1e-10));
}

TEST(GaussianFit, RowsInAPlaneAreRefused) {
  const Tensor rows = correlated_rows(100, 2);
  GaussianFit fit;
  fit.add(torch::cat({rows, rows.sum(1, true)}, 1));
  testing::expect_contains(testing::message_of([&] { fit.density(context); }),
                           {"not positive definite", "others determine"});
}

/// The same eigenvalues as of a plane, for another reason.
TEST(GaussianFit, UnitsThatDifferTooMuchAreRefusedAsThat) {
  GaussianFit fit;
  fit.add(correlated_rows(100, 2) * torch::tensor({1e-9, 1e9}, torch::kFloat64));
  testing::expect_contains(testing::message_of([&] { fit.density(context); }),
                           {"units differ too much", "scale the columns"});
}

/// 2.009 bits per dimension with four or more draws of the noise in the statistics; a single draw,
/// for speed, costs 0.003 more.
TEST(GaussianDensity, MnistCostsTwoBits) {
  const char* data = std::getenv("DRE_DATA");
  if (data == nullptr) GTEST_SKIP() << "DRE_DATA is not set";
  const MnistSplit mnist = load_mnist(std::string(data) + "/mnist");
  auto generator = context.generator("noise");
  GaussianFit fit;
  for (const auto& block : mnist.train.split(10000)) fit.add(dequantise(block, generator).x);
  const GaussianDensity density = fit.density({torch::kCPU, torch::kFloat32});
  const Logits test = dequantise(mnist.test, generator);
  const Tensor bits = bits_per_dimension(density.log_prob(test.x), test.log_determinant);
  EXPECT_NEAR(bits.mean().item<double>(), 2.0125, 0.001);
}

}  // namespace
}  // namespace dre
