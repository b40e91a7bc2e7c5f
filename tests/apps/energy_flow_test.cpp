#include <gtest/gtest.h>

#include <cmath>

#include "tests/apps/energy_set.h"
#include "tests/density/examples.h"

namespace dre {
namespace {

using namespace dre::testing;

class EnergyFlow : public ::testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(All, EnergyFlow, ::testing::Values("latent", "images"),
                         [](const auto& info) { return std::string(info.param); });

/// Signs of which any two rows are orthogonal, so that the average over them is the exact trace;
/// d is a power of 2. [d, d]
Tensor orthogonal_signs(int64_t d) {
  Tensor signs = torch::ones({1, 1}, torch::kFloat64);
  while (signs.size(0) < d)
    signs = torch::cat({torch::cat({signs, signs}, 1), torch::cat({signs, -signs}, 1)}, 0);
  return signs;
}

/// The continuity equation holds for what the velocity says alone: the score's own gradient and the
/// trace of the velocity's slopes, here by two-sided differences, give the time score.
TEST_P(EnergyFlow, TheTimeScoreCanDoWithoutTheVarianceHead) {
  const torch::NoGradGuard no_grad;
  const Context context{torch::kCPU, torch::kFloat64, 1};
  EnergySet set(tiny("velocity", GetParam()), context);
  set.move_weights();
  const int64_t d = 16;
  const Tensor y = set.latent(1), rows = y.expand({d, d});
  const TimeNodes nodes = time_nodes(*set.model, 3);
  const Tensor gain = exact_divergence_gain(*set.model, rows, orthogonal_signs(d), nodes);
  double expected = 0;
  for (int64_t k = 0; k < nodes.t.size(0); ++k) {
    const auto velocity = [&](const Tensor& x) {
      return ability<FlowField>(set.model->score())
          ->flow(x, nodes.t[k].expand({x.size(0), 1}))
          .velocity.value;
    };
    const Tensor t = nodes.t[k].expand({1, 1}), moves = 1e-5 * torch::eye(d, torch::kFloat64);
    const Tensor slopes = (velocity(y + moves) - velocity(y - moves)) / 2e-5;
    const Tensor data_score = ability<DataScore>(set.model->score())->data_score(y, t).value;
    expected -= nodes.weight[k].item<double>() *
                (-slopes.trace() - (velocity(y) * data_score).sum()).item<double>();
  }
  const double direct = energy_log_ratio(*set.model, y, nodes).item<double>();
  EXPECT_NEAR(direct + gain.mean().item<double>(), expected, 1e-6 * std::abs(expected));
  EXPECT_GT(std::abs(direct - expected), 1e-3 * std::abs(expected));  // the heads disagree here
}

/// The flow's density is that of a map whose log-determinant can be had by finite differences.
TEST_P(EnergyFlow, FlowDensityIsNormalised) {
  const Context context{torch::kCPU, torch::kFloat64, 1};
  EnergySet set(tiny("velocity", GetParam()), context, spline_flow_example(4, 4, 1));
  set.move_weights();
  const int64_t d = 16, steps = 28;
  const Tensor z = set.latent(1), rows = z.expand({d, d});
  const double density =
      flow_density(*set.model, rows, orthogonal_signs(d), steps).by_probe.mean().item<double>();
  const torch::NoGradGuard no_grad;
  const auto end = [&](const Tensor& start) { return flowed(*set.model, start, steps); };
  // Two-sided differences of the end point.
  const double step = 1e-5;
  const Tensor moves = step * torch::eye(d, torch::kFloat64);
  const Tensor jacobian = (end(z + moves) - end(z - moves)) / (2 * step);
  const double expected = set.model->space().noise_log_prob(end(z)).item<double>() +
                          std::get<1>(torch::slogdet(jacobian)).item<double>();
  EXPECT_NEAR(density, expected, 2e-3);
}

TEST(EnergyFlows, SamplesOfTheUntrainedFlowAreNoise) {
  EnergySet set("velocity");
  auto generator = set.context.generator("samples");
  const Tensor z = flow_samples(*set.model, 400, 4, generator);
  EXPECT_NEAR(z.mean().item<double>(), 0, 5 / std::sqrt(6400.0));
  EXPECT_NEAR(z.var().item<double>(), 1, 5 * std::sqrt(2 / 6400.0));
}

}  // namespace
}  // namespace dre
