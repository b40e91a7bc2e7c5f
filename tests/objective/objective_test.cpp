/// Every objective is stationary at the exact score of Gaussian pairs, and only there.
#include "dre/objective/objective.h"

#include <gtest/gtest.h>

#include <cmath>

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
using testing::draw_batch;
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

/// What probes add to the loss, on average over rows.
Tensor probe_loss(const OneSidedVelocityScore& score, const Batch& batch, const Tensor& t,
                  at::Generator& generator) {
  at::Generator same = generator.clone();
  const Tensor without = OneSidedVelocityObjective(score).terms(batch, t, same).at_time;
  return (OneSidedVelocityObjective(score, 1).terms(batch, t, generator).at_time - without).mean();
}

// Of independent coordinates a probe of signs tells the divergence without noise.
TEST(Objective, OneSidedVelocityProbesHoldTheVarianceAgainstTheDivergence) {
  for (const testing::TurningCase& on : testing::turning_cases()) {
    SCOPED_TRACE(on.name);
    const Context context = double_context(5);
    auto data = context.generator("data");
    const Batch batch = draw_batch(gaussian_ends(3), 40, data);
    const Tensor t = torch::linspace(0.01, 0.99, 40, context.options()).unsqueeze(1);
    const auto probed = [&](const GaussianEnds& modelled, double offset) {
      const OneSidedVelocityScore score = testing::exact_one_sided_score(modelled, on, offset);
      auto generator = context.generator("probes");
      return probe_loss(score, batch, t, generator).item<double>();
    };
    GaussianEnds other = on.ends(3);  // of which the batch is not: the two heads still agree
    other.mean0 = other.mean0 + 0.3;
    EXPECT_LT(std::abs(probed(on.ends(3), 0)), 1e-12);
    EXPECT_LT(std::abs(probed(other, 0)), 1e-12);
    EXPECT_GT(probed(other, 0.1), 1e-6);
    EXPECT_NEAR(probed(other, 0.2), 4 * probed(other, 0.1), 1e-12);
  }
}

/// Half the squares of cos(theta) (w - 1) + sin(theta) du^_i/dx_i, of which only w learns.
Tensor divergence_loss(const OneSidedVelocityScore& score, const Tensor& x, const Tensor& t) {
  const int64_t d = x.size(1);
  std::vector<Tensor> slopes;
  for (int64_t i = 0; i < d; ++i) {
    const Tensor along = torch::zeros_like(x);
    along.select(1, i).fill_(1);
    slopes.push_back(score.heads({x, along}, t).velocity.tangent.select(1, i).detach());
  }
  const Tensor angle = score.turn(t).angle;
  const Tensor error =
      angle.cos() * score.heads(x, t).excess_variance.value + angle.sin() * torch::stack(slopes, 1);
  return 0.5 * error.square().mean();
}

// Every row is probed as often, coordinates that act on one another add noise only, and the
// velocity does not learn from probes.
TEST(Objective, OneSidedVelocityProbesAreTheDivergenceOnAverage) {
  const Context context = double_context(6);
  auto generator = context.generator("all");
  for (const testing::TurningCase& on : testing::turning_cases()) {
    SCOPED_TRACE(on.name);
    OneSidedVelocityScore score(testing::exact_parts({}, 6, on.bridge, 3));
    Parameters& parameters = score.network().parameters();
    testing::randomise(parameters);
    parameters.flatten();
    const Batch batch = draw_batch(gaussian_ends(3), 20, generator);
    const Tensor t = torch::linspace(0.05, 0.95, 20, context.options()).unsqueeze(1);
    const auto gradient = [&](const Tensor& loss) {
      parameters.zero_gradient();
      loss.backward();
      return parameters.flat_gradient().clone();
    };
    std::vector<Tensor> draws;
    for (int i = 0; i < 1000; ++i)
      draws.push_back(gradient(probe_loss(score, batch, t, generator)));
    const Tensor all = torch::stack(draws);
    const Tensor error = all.mean(0) - gradient(divergence_loss(score, batch.x0, t));
    const Tensor standard_error = all.std(0, true) / std::sqrt(1000.0);
    EXPECT_LT((error.abs() - 5 * standard_error).max().item<double>(), 1e-12);
    EXPECT_GT((all.mean(0).abs() - 5 * standard_error).max().item<double>(), 0);
  }
}

}  // namespace
}  // namespace dre
