#include "dre/sampling/hmc.h"

#include <gtest/gtest.h>

#include "dre/base/error.h"
#include "tests/sampling/targets.h"

namespace dre {
namespace {

using namespace dre::testing;

const Context context{torch::kCPU, torch::kFloat64, 5};

Tensor number(double value) { return torch::tensor(value, torch::kFloat64); }

class Hmc : public ::testing::TestWithParam<Target> {};

Phase start(const Target& target, int64_t m) {
  auto generator = context.generator("start");
  const Chains chains = start_chains(target.function(), target.draw(m, generator));
  return {chains, normal({m, target.dimension}, torch::kFloat64, generator)};
}

TEST_P(Hmc, LeapfrogComesBackWhenTheMomentumIsTurned) {
  const Target& target = GetParam();
  const Phase first = start(target, 20);
  Phase there = leapfrog(target.function(), 0.7, first, number(0.1), 10);
  EXPECT_GT((there.chains.z - first.chains.z).abs().mean().item<double>(), 0.1);
  there.momentum = -there.momentum;
  const Phase back = leapfrog(target.function(), 0.7, there, number(0.1), 10);
  EXPECT_TRUE(torch::allclose(back.chains.z, first.chains.z, 1e-9, 1e-9));
  EXPECT_TRUE(torch::allclose(back.momentum, -first.momentum, 1e-9, 1e-9));
}

/// With the volume kept, the Metropolis rule needs no Jacobian.
TEST_P(Hmc, LeapfrogKeepsTheVolume) {
  const Target& target = GetParam();
  const int64_t d = target.dimension;
  const Phase one = start(target, 1);
  const double delta = 1e-5;
  const auto image = [&](const Tensor& offset) {  // [2d, 2d]: a row an image
    const Tensor z = one.chains.z + offset.narrow(1, 0, d);
    const Phase moved =
        leapfrog(target.function(), 1,
                 {start_chains(target.function(), z), one.momentum + offset.narrow(1, d, d)},
                 number(0.2), 5);
    return torch::cat({moved.chains.z, moved.momentum}, 1);
  };
  const Tensor offsets = delta * torch::eye(2 * d, torch::kFloat64);
  const Tensor jacobian = (image(offsets) - image(-offsets)) / (2 * delta);
  EXPECT_NEAR(torch::det(jacobian).item<double>(), 1, 1e-7);
}

/// Moments of exact draws stay where they are, with a step large enough that many are refused.
TEST_P(Hmc, TransitionsLeaveTheTargetInvariant) {
  const Target& target = GetParam();
  auto generator = context.generator("draws");
  const int64_t m = 20000;
  const Tensor exact = target.draw(m, generator);
  Chains chains = start_chains(target.function(), target.draw(m, generator));
  double acceptance = 0;
  for (int i = 0; i < 5; ++i) {
    auto [moved, accepted] = transition(target.function(), 1, chains, number(1.2), 3, generator);
    chains = moved;
    acceptance += accepted.item<double>() / 5;
  }
  EXPECT_GT(acceptance, 0.3);
  EXPECT_LT(acceptance, 0.97);
  const auto moments = [](const Tensor& z) {
    const Tensor first = z.narrow(1, 0, 1);
    return torch::cat({first, first.square(), first.pow(3), first.pow(4), z.prod(1, true)}, 1);
  };
  const Tensor left = moments(exact), right = moments(chains.z);
  const Tensor error = ((left.var(0) + right.var(0)) / static_cast<double>(m)).sqrt();
  const double worst = ((left.mean(0) - right.mean(0)) / error).abs().max().item<double>();
  EXPECT_LT(worst, 4);
}

/// The slope that travels with the chains is that of the points they are at.
TEST_P(Hmc, SlopesBelongToThePoints) {
  const Target& target = GetParam();
  auto generator = context.generator("draws");
  Chains chains = start_chains(target.function(), target.draw(100, generator));
  chains = transition(target.function(), 0.5, chains, number(1.2), 3, generator).chains;
  const Slope fresh = target.function()(chains.z);
  EXPECT_TRUE(torch::allclose(chains.slope.value, fresh.value, 1e-12, 1e-12));
  EXPECT_TRUE(torch::allclose(chains.slope.gradient, fresh.gradient, 1e-12, 1e-12));
}

INSTANTIATE_TEST_SUITE_P(Targets, Hmc, ::testing::ValuesIn(targets()),
                         [](const auto& info) { return info.param.name; });

TEST(HmcTrouble, ChainsThatLeaveTheNumbersStay) {
  const LogRatioFunction broken = [](const Tensor& z) -> Slope {
    return {torch::full({z.size(0)}, std::nan(""), z.options()), torch::zeros_like(z)};
  };
  const Tensor z = torch::zeros({5, 2}, torch::kFloat64);
  auto generator = context.generator("draws");
  const Chains chains{z, {torch::zeros({5}, torch::kFloat64), torch::zeros_like(z)}};
  const Transition moved = transition(broken, 1, chains, number(0.1), 3, generator);
  EXPECT_TRUE(torch::equal(moved.chains.z, z));
  EXPECT_EQ(moved.acceptance.item<double>(), 0);
}

TEST(HmcTrouble, WrongShapesAreRefused) {
  const LogRatioFunction wrong = [](const Tensor& z) -> Slope { return {z, z}; };
  EXPECT_THROW(start_chains(wrong, torch::zeros({5, 2})), Error);
}

}  // namespace
}  // namespace dre
