/// The parametric networks hold the exact scores of a Gaussian path: checked against derivatives
/// of its log-density.
#include "dre/network/parametric_gaussian.h"

#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <cmath>

#include "dre/network/parametric_gaussian_1d.h"

namespace dre {
namespace {

const Context context{torch::kCPU, torch::kFloat64, 4};

/// x: [n, d], variances: [n, d, d] -> [n], log N(x; 0, V) up to a constant.
Tensor log_density(const Tensor& x, const Tensor& variance) {
  const Tensor solved = torch::matmul(torch::inverse(variance), x.unsqueeze(2)).squeeze(2);
  return -0.5 * (x * solved).sum(1) - 0.5 * torch::logdet(variance);
}

/// (time score, data score) of the path with the given covariance at t = 0: [n, 1+d]
Tensor exact_scores(const Tensor& covariance, const Tensor& at, const Tensor& time) {
  const Tensor x = at.clone().requires_grad_(), t = time.clone().requires_grad_();
  const Tensor c = (1 - t * t).unsqueeze(2);
  const Tensor identity = torch::eye(x.size(1), x.options());
  const Tensor total = log_density(x, c * covariance + (1 - c) * identity).sum();
  const auto scores = torch::autograd::grad({total}, {t, x});
  return torch::cat({scores[0], scores[1]}, 1);
}

struct Points {
  Tensor x, t;
};

Points points(int64_t columns) {
  auto generator = context.generator("points");
  const Tensor x = normal({20, columns}, context.options(), generator);
  return {x, uniform({20, 1}, context.options(), generator)};
}

TEST(ParametricGaussian, HoldsTheExactScores) {
  ParametricGaussian network({5}, context);
  auto generator = context.generator("root");
  network.parameters().load({{"root", normal({5, 5}, context.options(), generator)}});
  const Points p = points(5);
  const Tensor exact = exact_scores(network.covariance(), p.x, p.t);
  EXPECT_LT((network.forward(p.x, p.t).value - exact).abs().max().item<double>(), 1e-11);
}

TEST(ParametricGaussian, IntegratesToTheLogRatio) {
  ParametricGaussian network({2}, context);
  network.parameters().load({{"root", torch::tensor({{0.1, -0.8}, {-0.8, 0.3}})}});
  const Tensor x = points(2).x, identity = torch::eye(2, context.options());
  const int64_t nodes = 20000;  // midpoint rule: error of order nodes^-2
  Tensor integral = torch::zeros({x.size(0)}, context.options());
  for (int64_t i = 0; i < 20; ++i) {
    const Tensor t =
        (torch::arange(i * nodes / 20, (i + 1) * nodes / 20, context.options()) + 0.5) / nodes;
    const Tensor rows = x.repeat_interleave(t.size(0), 0);
    const Tensor scores =
        network.forward(rows, t.repeat(x.size(0)).unsqueeze(1)).value.select(1, 0);
    integral += scores.view({x.size(0), -1}).sum(1) / nodes;
  }
  const Tensor truth = log_density(x, network.covariance().expand({x.size(0), 2, 2})) -
                       log_density(x, identity.expand({x.size(0), 2, 2}));
  EXPECT_LT((-integral - truth).abs().max().item<double>(), 1e-7);
}

TEST(ParametricGaussian, CovarianceIsPositiveForEveryParameter) {
  ParametricGaussian network({3}, context);
  EXPECT_TRUE(torch::allclose(network.covariance(), torch::eye(3, context.options())));
  auto generator = context.generator("root");
  network.parameters().load({{"root", 5 * normal({3, 3}, context.options(), generator)}});
  EXPECT_GT(torch::linalg_eigvalsh(network.covariance(), "L").min().item<double>(), 0);
}

TEST(ParametricGaussian1d, HoldsTheExactScoresAtThetaZero) {
  for (const double sigma : {0.1, 1e-3, 2.0}) {
    const ParametricGaussian1d network({sigma, 0.0}, context);
    const Points p = points(1);
    const Tensor covariance = torch::full({1, 1}, sigma * sigma, context.options());
    const Tensor exact = exact_scores(covariance, p.x, p.t);
    const Tensor error = (network.forward(p.x, p.t).value - exact) / (1 + exact.abs());
    EXPECT_LT(error.abs().max().item<double>(), 1e-10) << sigma;
  }
}

}  // namespace
}  // namespace dre
