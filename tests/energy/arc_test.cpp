#include "dre/energy/arc.h"

#include <gtest/gtest.h>

#include <cmath>

#include "dre/density/density.h"
#include "dre/integrate/rules.h"
#include "tests/energy/energy_set.h"
#include "tests/support/exact_scores.h"
#include "tests/support/stop_after.h"

namespace dre {
namespace {

using namespace dre::testing;

/// Gauss-Legendre between two times.
TimeNodes evenly(int64_t count, double from, double to) {
  const RuleLevel rule = legendre(count).levels.front();
  std::vector<double> t, weight;
  for (size_t i = 0; i < rule.new_nodes.size(); ++i) {
    t.push_back(std::lerp(from, to, (rule.new_nodes[i] + 1) / 2));
    weight.push_back(rule.weights[i] * (to - from) / 2);
  }
  return {torch::tensor(t, torch::kFloat64), torch::tensor(weight, torch::kFloat64)};
}

/// The log-density of the bridge from the numerator to N(0, I) at an angle.
Tensor log_prob_at(const GaussianEnds& ends, double angle, const Tensor& y) {
  const double c = std::cos(angle), s = std::sin(angle);
  return oracle::log_prob(oracle::diagonal(c * ends.mean0, c * c * ends.variance0 + s * s), y);
}

TEST(EnergyArc, ExactScoresGiveTheDensityWhateverTheNoise) {
  const int64_t d = 3;
  auto generator = double_context(5).generator("points");
  Progress silent;
  for (const TurningCase& on : turning_cases()) {
    const GaussianEnds ends = on.ends(d);
    const OneSidedVelocityScore score = exact_one_sided_score(ends, on);
    const double to = on.meeting ? 0.5 : 1, from = 0.1 * to;
    const Tensor y = 2 * normal({20, d}, torch::kFloat64, generator);
    const Tensor exact = log_prob_at(ends, from / to * M_PI / 2, y);
    for (int repeat = 0; repeat < 3; ++repeat) {
      const Tensor noise = normal(y.sizes(), y.options(), generator);
      const auto found = arc_log_prob(score, y, noise, evenly(40, from, to), from, to, silent);
      ASSERT_TRUE(found) << on.name;
      EXPECT_LT((*found - exact).abs().max().item<double>(), 1e-9) << on.name;
    }
  }
}

/// Where the time score is wrong by a constant, the arc is wrong by it all the way.
TEST(EnergyArc, ErrorsOfTheTimeScoreAddUp) {
  const GaussianEnds ends = one_sided_ends(2);
  auto bridge = one_sided("trigonometric");
  const GaussianPath path(bridge, ends);
  const JointScore score = exact_joint_score(path, 0.25);
  auto generator = double_context(6).generator("points");
  const Tensor y = normal({5, 2}, torch::kFloat64, generator);
  const Tensor noise = normal({5, 2}, torch::kFloat64, generator);
  Progress silent;
  const auto found = arc_log_prob(score, y, noise, evenly(40, 0.2, 1), 0.2, 1, silent);
  const Tensor off = *found - log_prob_at(ends, 0.2 * M_PI / 2, y);
  EXPECT_LT((off + 0.25 * 0.8).abs().max().item<double>(), 1e-9);
}

class EnergyArcOn : public OnBothBridges {};

INSTANTIATE_TEST_SUITE_P(All, EnergyArcOn, ::testing::Values("latent", "images"),
                         [](const auto& info) { return std::string(info.param); });

/// Heads of zero say N(0, I) at all times.
TEST_P(EnergyArcOn, UntrainedModelsSayTheNoise) {
  const EnergySet set = make_set();
  const Tensor y = set.latent(10);
  auto generator = set.context.generator("noise");
  Progress silent;
  const auto found =
      arc_log_prob(*set.model, y, normal(y.sizes(), y.options(), generator), 8, silent);
  ASSERT_TRUE(found);
  EXPECT_LT((*found - standard_normal_log_prob(y)).abs().max().item<double>(), 1e-3);
}

TEST_P(EnergyArcOn, AStopIsHeardAtEveryNode) {
  const EnergySet set = make_set();
  const Tensor y = set.latent(4);
  StopAfter stop(3);
  EXPECT_FALSE(arc_log_prob(*set.model, y, y, 8, stop));
}

}  // namespace
}  // namespace dre
