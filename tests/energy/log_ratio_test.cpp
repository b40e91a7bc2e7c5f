#include "dre/energy/log_ratio.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/energy/energy_set.h"

namespace dre {
namespace {

using namespace dre::testing;

class EnergyRatioOn : public OnBothBridges {};

INSTANTIATE_TEST_SUITE_P(All, EnergyRatioOn, ::testing::Values("latent", "images"),
                         [](const auto& info) { return std::string(info.param); });

/// The correction is the integral of the mean time score over points of the bridge, here drawn by
/// hand from latent points of the noise model.
TEST_P(EnergyRatioOn, CorrectionMakesTheMeanScoreVanish) {
  EnergySet set = make_set();
  set.move_weights();
  const torch::NoGradGuard no_grad;
  const EnergyModel& model = *set.model;
  auto generator = set.context.generator("correction"), other = set.context.generator("by hand");
  EnergyEvaluateOptions options;
  options.nodes = 8;
  const Tensor y = set.latent(40).repeat({5, 1});
  Progress silent;
  const Measured found = *zero_mean_correction(model, y, options, generator, silent);
  const double first = found.value;
  const TimeNodes nodes = time_nodes(model, options.nodes);
  const int64_t repeats = 10;
  Tensor totals = torch::zeros({repeats}, torch::kFloat64);
  for (int64_t i = 0; i < repeats; ++i)
    for (int64_t k = 0; k < nodes.t.size(0); ++k) {
      const Tensor t = nodes.t[k].expand({y.size(0), 1});
      const Tensor noise = model.space().of_latent(normal(y.sizes(), y.options(), other));
      const Tensor eps = normal(y.sizes(), y.options(), other);
      const Tensor x = point_at(*model.bridge(), y, noise, eps, t).x;
      totals[i] +=
          nodes.weight[k] * ability<TimeScore>(model.score())->time_score(x, t).value.mean();
    }
  const double once = totals.std().item<double>();
  EXPECT_NEAR(first, totals.mean().item<double>(), 5 * once);
  EXPECT_GT(std::abs(first), 5 * once);
  const Tensor before = energy_log_ratio(model, y, 8);
  set.model->correction = found;
  EXPECT_NEAR((energy_log_ratio(model, y, 8) - before).mean().item<double>(), first, 1e-3);
}

}  // namespace
}  // namespace dre
