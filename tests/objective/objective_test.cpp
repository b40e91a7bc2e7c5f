/// Every objective is stationary at the exact score of Gaussian pairs, and only there.
#include "dre/objective/objective.h"

#include <gtest/gtest.h>

#include "dre/base/error.h"
#include "dre/bridge/noise.h"
#include "dre/objective/make_objective.h"
#include "dre/objective/velocity.h"
#include "dre/score/make_score.h"
#include "dre/score/velocity_score.h"
#include "tests/support/exact_scores.h"
#include "tests/support/stationarity.h"

namespace dre {
namespace {

using testing::double_context;
using testing::gaussian_ends;
using testing::gradient_z;

struct Problem {
  std::string name;
  std::string method;
  std::string bridge;
  ObjectiveOptions options;
};

std::vector<Problem> problems() {
  const auto with = [](const std::string& time_weight, const std::string& data_term = "sliced",
                       const std::string& matching = "pathwise") {
    ObjectiveOptions options;
    options.matching = matching;
    options.time_weight = time_weight;
    options.data_term = data_term;
    options.time_step = 0.01;
    return options;
  };
  return {
      {"time, linear", "time", "linear", with("one")},
      {"time, trigonometric, parabola", "time", "trigonometric", with("parabola")},
      {"time, vpsde, noise weight", "time", "vpsde", with("noise")},
      {"time, brownian", "time", "brownian", with("one")},
      {"joint sliced", "joint", "trigonometric", with("one")},
      {"joint denoising", "joint", "brownian", with("parabola", "denoising")},
      {"time by parts", "time", "trigonometric", with("one", "sliced", "boundary")},
      {"time by parts, brownian", "time", "brownian", with("noise", "sliced", "boundary")},
      {"joint by parts", "joint", "vpsde", with("one", "sliced", "boundary")},
      {"conditional", "conditional", "brownian", {}},
      {"conditional, dequantified", "conditional", "dequantified", {}},
      {"conditional vector", "conditional-vector", "brownian", {}},
      {"velocity", "velocity", "brownian", {}},
      {"velocity, dequantified", "velocity", "dequantified", {}},
      {"which-time", "which-time", "trigonometric", {}},
      {"which-time, brownian", "which-time", "brownian", {}},
      {"which-time continuous", "which-time-continuous", "trigonometric", {}},
      {"nce", "nce", "linear", {}},
      {"tre", "tre", "trigonometric", {}},
      {"infinitesimal", "infinitesimal", "trigonometric", with("one")},
  };
}

ScoreOptions small_score() {
  ScoreOptions options;
  options.width = 8;
  options.depth = 2;
  options.activation = "tanh";
  return options;
}

/// z of a method's gradient when the model is exact for `modelled` and the data follow `truth`.
double method_z(const Problem& problem, const GaussianEnds& modelled, const GaussianEnds& truth) {
  const BridgePtr bridge = testing::bridge_named(problem.bridge);
  const auto path = std::make_shared<const GaussianPath>(bridge, modelled);
  const int64_t d = path->dimension();
  const ScorePtr score =
      make_score(problem.method, small_score(), bridge, path, d, double_context());
  const auto objective =
      make_objective(problem.method, *score, bridge, second_moments(modelled), problem.options);
  return gradient_z(*objective, score->network().parameters(), truth);
}

class ExactObjective : public ::testing::TestWithParam<int64_t> {};

TEST_P(ExactObjective, GradientVanishesAtTheExactScore) {
  const int64_t d = GetParam();
  for (const auto& problem : problems())
    EXPECT_LT(method_z(problem, gaussian_ends(d), gaussian_ends(d)), 4) << problem.name;
}

INSTANTIATE_TEST_SUITE_P(Dimension, ExactObjective, ::testing::Values(1, 2, 8));

TEST(Objective, GradientDoesNotVanishElsewhere) {
  GaussianEnds wrong = gaussian_ends(2);
  wrong.mean0 = wrong.mean0 + 0.3;
  for (const auto& problem : problems())
    EXPECT_GT(method_z(problem, wrong, gaussian_ends(2)), 5) << problem.name;
}

TEST(Objective, OneSidedVelocityGradientVanishesAtTheExactMoments) {
  for (const testing::TurningCase& on : testing::turning_cases())
    for (const int64_t d : {1, 2, 8}) {
      SCOPED_TRACE(text(on.name, ", ", d));
      const GaussianEnds ends = on.ends(d);
      const auto z_at = [&](const GaussianEnds& modelled) {
        OneSidedVelocityScore score = testing::exact_one_sided_score(modelled, on);
        return gradient_z(OneSidedVelocityObjective(score), score.network().parameters(), ends);
      };
      EXPECT_LT(z_at(ends), 4);
      GaussianEnds wrong = ends;
      wrong.mean0 = wrong.mean0 + 0.3;
      EXPECT_GT(z_at(wrong), 5);
    }
}

}  // namespace
}  // namespace dre
