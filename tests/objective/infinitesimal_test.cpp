/// Propositions 2 and 3: classifiers between neighbours on the bridge become the time score, and
/// their sum becomes its integral.
#include <gtest/gtest.h>

#include <cmath>

#include "dre/objective/classification.h"
#include "dre/score/time_scores.h"
#include "tests/support/exact_network.h"
#include "tests/support/stationarity.h"

namespace dre {
namespace {

using testing::draw_points;
using testing::gaussian_ends;

constexpr int64_t dimension = 2;

const auto bridges = {"linear", "trigonometric", "brownian", "dequantified"};

/// The exact classifier between p_t and p_(t+step): its logit, and what it says of the time score.
class Classifier final {
 public:
  explicit Classifier(const std::string& bridge,
                      const GaussianEnds& ends = gaussian_ends(dimension))
      : path_(testing::oracle_path(testing::bridge_named(bridge))),
        oracle_(testing::oracle_of(ends)) {}

  Tensor logit(const Tensor& x, const Tensor& t, double step) const {
    return oracle_.log_prob(path_, x, t + step) - oracle_.log_prob(path_, x, t);
  }
  Tensor score(const Tensor& x, const Tensor& t) const { return oracle_.time_score(path_, x, t); }
  Tensor log_density(const Tensor& x, double t) const {
    return oracle_.log_prob(path_, x, torch::full({x.size(0), 1}, t, torch::kFloat64));
  }

  /// Largest |logit / step - s(t + step/2)| over the points.
  double error(const Tensor& x, const Tensor& t, double step) const {
    const Tensor difference = logit(x, t, step) / step - score(x, t + step / 2);
    return difference.abs().max().item<double>();
  }

 private:
  oracle::Path path_;
  oracle::GaussianOracle oracle_;
};

TEST(Infinitesimal, LogitOverStepIsTheTimeScoreToSecondOrder) {
  const auto [x, t] = draw_points(50, dimension);
  const Tensor inside = 0.1 + 0.7 * t;
  for (const char* name : bridges) {
    const Classifier classifier(name);
    for (const double step : {0.02, 0.01, 0.005}) {
      const double ratio =
          classifier.error(x, inside, step) / classifier.error(x, inside, step / 2);
      EXPECT_GT(ratio, 3.5) << name << ", " << step;
      EXPECT_LT(ratio, 4.5) << name << ", " << step;
    }
  }
}

/// Proposition 2: P(from p_(t+step)) = 1/2 + s step / 4, with an error of third order when s is
/// taken midway.
TEST(Infinitesimal, ProbabilityIsHalfPlusAQuarterOfTheScore) {
  const auto [x, t] = draw_points(50, dimension);
  const Tensor inside = 0.1 + 0.7 * t;
  for (const char* name : bridges) {
    const Classifier classifier(name);
    const auto error = [&](double step) {
      const Tensor probability = torch::sigmoid(classifier.logit(x, inside, step));
      const Tensor linear = 0.5 + 0.25 * step * classifier.score(x, inside + step / 2);
      return (probability - linear).abs().max().item<double>();
    };
    EXPECT_NEAR(error(0.02) / error(0.01), 8, 1) << name;
  }
}

/// Proposition 3: the log-ratio is the limit of the sum over T bridges.
TEST(Infinitesimal, SumOverBridgesConvergesToTheLogRatio) {
  const Tensor x = draw_points(50, dimension).x;
  for (const char* name : bridges) {
    const Classifier classifier(name);
    const Tensor log_ratio = classifier.log_density(x, 0) - classifier.log_density(x, 1);
    const auto error = [&](int64_t count) {
      const double step = 1.0 / static_cast<double>(count);
      Tensor exact = torch::zeros({x.size(0)}, torch::kFloat64), by_score = exact.clone();
      for (int64_t k = 0; k < count; ++k) {
        const Tensor t = torch::full({x.size(0), 1}, k * step, torch::kFloat64);
        exact -= classifier.logit(x, t, step);
        by_score -= step * classifier.score(x, t + step / 2);
      }
      EXPECT_TRUE(torch::allclose(exact, log_ratio, 0, 1e-10)) << name;
      return (by_score - log_ratio).abs().max().item<double>();
    };
    const double coarse = error(32), fine = error(64);
    EXPECT_NEAR(coarse / fine, 4, 0.5) << name;
    EXPECT_LT(fine, 0.01) << name;
  }
}

/// At a finite step the objective's optimum is the exact classifier's logit over the step, not the
/// time score itself.
TEST(Infinitesimal, ObjectiveIsStationaryAtTheExactClassifier) {
  const double step = 0.5;
  const BridgePtr bridge = testing::bridge_named("linear");
  GaussianEnds ends = gaussian_ends(dimension);
  ends.mean0 = ends.mean0 + 1;  // far enough apart for the difference to be seen
  const Classifier classifier("linear", ends);
  const auto z_of = [&](const testing::Function& model) {
    const auto network = std::make_shared<testing::ExactNetwork>(model, dimension, 1, true,
                                                                 testing::double_context());
    const ScalarScore score({network, bridge, nullptr, dimension});
    return testing::gradient_z(InfinitesimalObjective(score, step), network->parameters(), ends);
  };
  EXPECT_LT(z_of([&](const Dual& x, const Dual& t) {
              const Tensor logit = classifier.logit(x.value, t.value - step / 2, step);
              return Dual((logit / step).unsqueeze(1));
            }),
            4);
  EXPECT_GT(z_of([&](const Dual& x, const Dual& t) {
              return Dual(classifier.score(x.value, t.value).unsqueeze(1));
            }),
            5);
}

}  // namespace
}  // namespace dre
