#include "dre/sampling/hmc.h"

#include <gtest/gtest.h>

#include <limits>

#include "dre/base/error.h"
#include "tests/sampling/targets.h"

namespace dre {
namespace {

using namespace dre::testing;

const Context hmc_context{torch::kCPU, torch::kFloat64, 5};

Tensor number(double value) { return torch::tensor(value, torch::kFloat64); }

class Hmc : public ::testing::TestWithParam<Target> {};

Phase start(const Target& target, int64_t m) {
  auto generator = hmc_context.generator("start");
  const Tensor z = target.draw(m, generator);
  return {z, normal({m, target.dimension}, torch::kFloat64, generator)};
}

/// A tilt with a force that is not its gradient.
class Misled final : public Tilt {
 public:
  explicit Misled(const Target& target) : right_(target.tilt()) {}
  Tensor value(const Tensor& z, double beta) override { return right_.value(z, beta); }
  Tensor force(const Tensor& z, double beta) override {
    return 0.7 * right_.force(z, beta) + 0.3 * z.sin();
  }

 private:
  PowerTilt right_;
};

/// A power that does not tell that it is one.
class Reticent final : public Tilt {
 public:
  explicit Reticent(const Target& target) : power_(target.tilt()) {}
  Tensor value(const Tensor& z, double beta) override { return power_.value(z, beta); }
  Tensor force(const Tensor& z, double beta) override { return power_.force(z, beta); }

 private:
  PowerTilt power_;
};

TEST_P(Hmc, LeapfrogComesBackWhenTheMomentumIsTurned) {
  const Target& target = GetParam();
  const Phase first = start(target, 20);
  PowerTilt tilt = target.tilt();
  Phase there = leapfrog(tilt, 0.7, first, number(0.1), 10);
  EXPECT_GT((there.z - first.z).abs().mean().item<double>(), 0.1);
  there.momentum = -there.momentum;
  const Phase back = leapfrog(tilt, 0.7, there, number(0.1), 10);
  EXPECT_TRUE(torch::allclose(back.z, first.z, 1e-9, 1e-9));
  EXPECT_TRUE(torch::allclose(back.momentum, -first.momentum, 1e-9, 1e-9));
}

/// With the volume kept, the Metropolis rule needs no Jacobian.
TEST_P(Hmc, LeapfrogKeepsTheVolume) {
  const Target& target = GetParam();
  const int64_t d = target.dimension;
  const Phase one = start(target, 1);
  const double delta = 1e-5;
  Misled tilt(target);
  const auto image = [&](const Tensor& offset) {  // [2d, 2d]: a row an image
    const Phase from{one.z + offset.narrow(1, 0, d), one.momentum + offset.narrow(1, d, d)};
    const Phase moved = leapfrog(tilt, 1, from, number(0.2), 5);
    return torch::cat({moved.z, moved.momentum}, 1);
  };
  const Tensor offsets = delta * torch::eye(2 * d, torch::kFloat64);
  const Tensor jacobian = (image(offsets) - image(-offsets)) / (2 * delta);
  EXPECT_NEAR(torch::det(jacobian).item<double>(), 1, 1e-7);
}

/// Moments of exact draws stay where they are, with a step large enough that many are refused.
void expect_invariance(const Target& target, Tilt& tilt) {
  auto generator = hmc_context.generator("draws");
  const int64_t m = 20000;
  const Tensor exact = target.draw(m, generator);
  Chains chains = start_chains(tilt, target.draw(m, generator), 1);
  double acceptance = 0;
  for (int i = 0; i < 5; ++i)
    acceptance += transition(tilt, chains, number(1.2), 3, generator).item<double>() / 5;
  EXPECT_GT(acceptance, 0.2);
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

TEST_P(Hmc, TransitionsLeaveTheTargetInvariant) {
  PowerTilt tilt = GetParam().tilt();
  expect_invariance(GetParam(), tilt);
}

/// The Metropolis rule goes by the values, so that a wrong force costs acceptance and nothing else.
TEST_P(Hmc, AWrongForceLeavesTheTargetInvariantToo) {
  Misled tilt(GetParam());
  expect_invariance(GetParam(), tilt);
}

/// What travels with the chains is of the points and of the β they are at, also where a tilt that
/// is a power is not asked again.
void expect_own_values(const Target& target, Tilt& tilt) {
  auto generator = hmc_context.generator("draws");
  PowerTilt fresh = target.tilt();
  Chains chains = start_chains(tilt, target.draw(100, generator), 0.5);
  const auto expect_own = [&] {
    EXPECT_TRUE(
        torch::allclose(chains.value, chains.beta * target.log_ratio(chains.z), 1e-12, 1e-12));
    EXPECT_TRUE(torch::allclose(chains.force, fresh.force(chains.z, chains.beta), 1e-12, 1e-12));
  };
  transition(tilt, chains, number(1.2), 3, generator);
  expect_own();
  const Tensor change = change_beta(tilt, chains, 0.8);
  EXPECT_TRUE(torch::allclose(change, 0.3 * target.log_ratio(chains.z), 1e-12, 1e-12));
  EXPECT_EQ(chains.beta, 0.8);
  EXPECT_EQ(chains.force.defined(), tilt.growth(0.5, 0.8).has_value());
  if (chains.force.defined()) expect_own();
  const Tensor before = chains.z;
  transition(tilt, chains, number(2.0), 3, generator);
  EXPECT_GT((chains.z == before).all(1).sum().item<int64_t>(), 0) << "no chain stayed";
  expect_own();
}

TEST_P(Hmc, ValuesAndForcesBelongToThePoints) {
  PowerTilt power = GetParam().tilt();
  expect_own_values(GetParam(), power);
  Reticent reticent(GetParam());
  expect_own_values(GetParam(), reticent);
}

/// n temperatures of k leapfrog steps ask a ratio for its slope n k + 1 times, and not once more.
TEST_P(Hmc, PowersAreAskedOncePerNewPoint) {
  const Target& target = GetParam();
  auto generator = hmc_context.generator("draws");
  int64_t asked = 0;
  PowerTilt tilt([&, log_ratio = differentiated(target.log_ratio)](const Tensor& z) {
    ++asked;
    return log_ratio(z);
  });
  Chains chains = start_chains(tilt, target.draw(10, generator), 1);
  for (const double beta : {0.9, 0.5, 0.3}) {
    transition(tilt, chains, number(0.5), 4, generator);
    change_beta(tilt, chains, beta);
  }
  EXPECT_EQ(asked, 3 * 4 + 1);
}

INSTANTIATE_TEST_SUITE_P(Targets, Hmc, ::testing::ValuesIn(targets()),
                         [](const auto& info) { return info.param.name; });

TEST(HmcTrouble, ChainsThatLeaveTheNumbersStay) {
  PowerTilt broken([](const Tensor& z) -> Slope {
    return {torch::full({z.size(0)}, std::nan(""), z.options()), torch::zeros_like(z)};
  });
  const Tensor z = torch::zeros({5, 2}, torch::kFloat64);
  auto generator = hmc_context.generator("draws");
  Chains chains{z, 1, torch::zeros({5}, torch::kFloat64)};
  EXPECT_EQ(transition(broken, chains, number(0.1), 3, generator).item<double>(), 0);
  EXPECT_TRUE(torch::equal(chains.z, z));
}

/// A point where the model has no density weighs nothing from the first step on.
TEST(HmcTrouble, WhereThereIsNoDensityThereIsNoWeight) {
  PowerTilt half([](const Tensor& z) -> Slope {
    return {torch::log((z.select(1, 0) > 0).to(z.dtype())), torch::zeros_like(z)};
  });
  Chains chains = start_chains(half, torch::tensor({{1.0}, {-1.0}}, torch::kFloat64), 0);
  for (const double beta : {0.5, 1.0}) {
    const Tensor change = change_beta(half, chains, beta);
    EXPECT_EQ(change[0].item<double>(), 0);
    EXPECT_EQ(change[1].item<double>(), -std::numeric_limits<double>::infinity());
  }
  change_beta(half, chains, 0);
  EXPECT_TRUE(torch::equal(chains.value, torch::zeros({2}, torch::kFloat64)));
}

TEST(HmcTrouble, WrongShapesAreRefused) {
  PowerTilt wrong([](const Tensor& z) -> Slope { return {z, z}; });
  EXPECT_THROW(start_chains(wrong, torch::zeros({5, 2}), 1), Error);
}

}  // namespace
}  // namespace dre
