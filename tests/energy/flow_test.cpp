#include <gtest/gtest.h>

#include <cmath>

#include "tests/density/examples.h"
#include "tests/energy/energy_set.h"
#include "tests/support/stop_after.h"

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
  Progress silent;
  const Tensor gain = *exact_divergence_gain(*set.model, rows, orthogonal_signs(d), nodes, silent);
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
  Progress silent;
  const double density = flow_density(*set.model, rows, orthogonal_signs(d), steps, silent)
                             ->by_probe.mean()
                             .item<double>();
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
  Progress silent;
  const Tensor z = *flow_samples(*set.model, 400, 4, generator, silent);
  EXPECT_NEAR(z.mean().item<double>(), 0, 5 / std::sqrt(6400.0));
  EXPECT_NEAR(z.var().item<double>(), 1, 5 * std::sqrt(2 / 6400.0));
}

/// On the CPU one evaluation of a large network takes seconds: a stop waits for no more than one.
TEST(EnergyFlows, AStopIsHeardAtEveryEvaluation) {
  EnergySet set("velocity");
  auto generator = set.context.generator("samples");
  const Tensor y = set.latent(3), probes = torch::ones_like(y);
  const TimeNodes nodes = time_nodes(*set.model, 4);
  for (const int evaluations : {0, 3}) {
    StopAfter samples(evaluations), density(evaluations), gain(evaluations);
    EXPECT_FALSE(flow_samples(*set.model, 3, 2, generator, samples));
    EXPECT_FALSE(flow_density(*set.model, y, probes, 2, density));
    EXPECT_FALSE(exact_divergence_gain(*set.model, y, probes, nodes, gain));
  }
  StopAfter late(100);
  EXPECT_TRUE(flow_samples(*set.model, 3, 2, generator, late));
}

/// On the CPU few images go through the network together, whatever was asked for; what is drawn for
/// them does not depend on it.
TEST(EnergyFlows, BlocksAreSmallOnTheCpuAndNoiseIsDrawnAsBefore) {
  EnergySet set("velocity", torch::kFloat64);
  set.move_weights();
  struct Steps final : Progress {
    void advance(int64_t images, const std::string&) override { done.push_back(images); }
    std::vector<int64_t> done;
  } progress;
  auto generator = set.context.generator("report"), same = generator.clone();
  EnergyEvaluateOptions options;
  options.nodes = 4;
  options.flow_steps = 2;
  const EnergyReport report =
      evaluate_energy(*set.model, set.validation, options, generator, progress);
  EXPECT_EQ(progress.done, (std::vector<int64_t>{20, 40}));

  Progress silent;
  const Logits logits = dequantise(set.validation, same, torch::kFloat64);
  const Moved y = set.model->space().enter(logits.x);
  const Tensor probes = random_signs(logits.x.sizes(), logits.x.options(), same);
  const auto along_flow = flow_density(*set.model, y.point, probes, 2, silent);
  const Tensor direct =
      set.model->space().noise_log_prob(y.point) + energy_log_ratio(*set.model, y.point, 4);
  const auto bits = [&](const Tensor& log_prob) {
    return mean_of(bits_per_dimension(log_prob + y.log_determinant, logits.log_determinant, 16))
        .value;
  };
  EXPECT_NEAR(report.flow.value, bits(along_flow->by_probe), 1e-9);
  EXPECT_NEAR(report.corrected.value, bits(direct), 1e-9);
  const Tensor apart = (direct - along_flow->by_variance).abs() / nats_of_a_bit(16);
  EXPECT_NEAR(report.disagreement.value, apart.mean().item<double>(), 1e-9);
}

/// The same of the correction, whose points are drawn along the bridge.
TEST_P(EnergyFlow, TheCorrectionIsDrawnAsBefore) {
  const torch::NoGradGuard no_grad;
  EnergySet set(tiny("velocity", GetParam()), {torch::kCPU, torch::kFloat64, 1});
  set.move_weights();
  const EnergyModel& model = *set.model;
  auto generator = set.context.generator("correction"), same = generator.clone();
  EnergyEvaluateOptions options;
  options.nodes = 4;
  Progress silent;
  const Tensor y = set.latent(40);
  const Measured found = *zero_mean_correction(model, y, options, generator, silent);

  const TimeNodes nodes = time_nodes(model, 4);
  const int64_t count = nodes.t.size(0);
  const Tensor noise = model.space().between_images() ? model.space().draw_noise(40, same) : y;
  const Tensor t = nodes.t.repeat({40}).unsqueeze(1);
  const Tensor x = draw_point(*model.bridge(), y.repeat_interleave(count, 0),
                              noise.repeat_interleave(count, 0), t, same)
                       .x;
  const Tensor score = ability<TimeScore>(model.score())->time_score(x, t).value;
  const Measured expected = mean_of(score.view({40, count}).matmul(nodes.weight));
  EXPECT_NEAR(found.value, expected.value, 1e-9 * (1 + std::abs(expected.value)));
  EXPECT_NEAR(found.standard_error, expected.standard_error, 1e-9 * expected.standard_error);
  StopAfter stop(1);
  EXPECT_FALSE(zero_mean_correction(model, y, options, generator, stop));
}

}  // namespace
}  // namespace dre
