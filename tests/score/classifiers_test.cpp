#include "dre/score/classifiers.h"

#include <gtest/gtest.h>

#include <cmath>

#include "dre/integrate/quadrature.h"
#include "dre/score/chebyshev.h"
#include "tests/dual/jvp.h"
#include "tests/support/exact_network.h"
#include "tests/support/gaussian_pair.h"

namespace dre {
namespace {

using testing::difference;
using testing::draw_points;
using testing::gaussian_ends;

constexpr int64_t dimension = 3;

const auto bridges = {"linear", "arithmetic", "trigonometric", "vpsde", "dequantified"};

/// Parts of a score with a network without time that starts at zero.
ScoreParts parts_on(const BridgePtr& bridge, int64_t outputs, bool with_reference) {
  const auto network = std::make_shared<testing::ExactNetwork>(nullptr, dimension, outputs, false,
                                                               testing::double_context());
  const auto path = std::make_shared<const GaussianPath>(bridge, gaussian_ends(dimension));
  return {network, bridge, with_reference ? path : nullptr, dimension};
}

/// Exact log-densities of the rows at each of the times: [n, K].
Tensor exact_log_densities(const BridgePtr& bridge, const Tensor& x, const Tensor& times) {
  const auto oracle = testing::oracle_of(gaussian_ends(dimension));
  std::vector<Tensor> columns;
  for (int64_t k = 0; k < times.size(0); ++k)
    columns.push_back(oracle.log_prob(testing::oracle_path(bridge), x,
                                      times.slice(0, k, k + 1).expand({x.size(0), 1})));
  return torch::stack(columns, 1);
}

Tensor steps_down(const Tensor& columns) { return columns.slice(1, 0, -1) - columns.slice(1, 1); }

TEST(Chebyshev, ValuesAreCosinesOfMultiples) {
  const Tensor t = torch::linspace(0, 1, 41, torch::kFloat64);
  const Tensor angle = (2 * t - 1).acos().unsqueeze(1);
  const Tensor k = torch::arange(1, 13, torch::kFloat64);
  EXPECT_LT(difference(chebyshev(t, 12).value, (k * angle).cos()), 1e-12);
}

TEST(Chebyshev, DerivativesMatchAutograd) {
  for (const int64_t count : {1, 2, 3, 8, 14}) {
    const Tensor t = torch::linspace(0, 1, 23, torch::kFloat64).requires_grad_();
    const Chebyshev basis = chebyshev(t, count);
    ASSERT_EQ(basis.value.sizes(), (torch::IntArrayRef{23, count}));
    for (int64_t k = 0; k < count; ++k) {
      const auto column = [&](const Tensor& all) { return all.select(1, k); };
      const auto by_t = [&](const Tensor& all) {
        return testing::gradients((column(all) + 0 * t).sum(), {t})[0];  // T_1' is constant
      };
      EXPECT_LT(difference(column(basis.first), by_t(basis.value)), 1e-12) << k;
      EXPECT_LT(difference(column(basis.second), by_t(basis.first)), 1e-12) << k;
    }
  }
}

TEST(Telescope, ZeroNetworkGivesTheReferencesRatiosOfNeighbours) {
  const Tensor x = draw_points(20, dimension).x;
  for (const char* name : bridges) {
    const BridgePtr bridge = testing::bridge_named(name);
    const TelescopeScore score(parts_on(bridge, 5, true));
    const Tensor exact = steps_down(exact_log_densities(bridge, x, score.times()));
    EXPECT_LT(difference(score.logits(x), exact), 1e-9) << name;
    EXPECT_LT(difference(score.logits(x).sum(1), score.reference()->path_log_ratio(x)), 1e-9)
        << name;
    EXPECT_EQ(TelescopeScore(parts_on(bridge, 5, false)).logits(x).abs().max().item<double>(), 0);
  }
}

TEST(WhichTime, ZeroNetworkGivesTheReferencesLogDensities) {
  const Tensor x = draw_points(20, dimension).x;
  for (const char* name : bridges) {
    const BridgePtr bridge = testing::bridge_named(name);
    const WhichTimeScore score(parts_on(bridge, 9, true));
    const Tensor exact = exact_log_densities(bridge, x, score.times());
    EXPECT_LT(difference(steps_down(score.logits(x)), steps_down(exact)), 1e-9) << name;
    const Tensor times = torch::tensor({0.2, 0.5, 0.9}, torch::kFloat64);
    const ContinuousWhichTimeScore continuous(parts_on(bridge, 6, true));
    EXPECT_LT(difference(steps_down(continuous.logits(x, times)),
                         steps_down(exact_log_densities(bridge, x, times))),
              1e-9)
        << name;
  }
}

/// log r of a direct ratio is what its logits say between the two ends.
TEST(Classifiers, RatioResidualIsTheDifferenceOfTheEnds) {
  const Tensor x = draw_points(20, dimension).x;
  for (const char* name : bridges) {
    const BridgePtr bridge = testing::bridge_named(name);
    TelescopeScore telescope(parts_on(bridge, 5, true));
    WhichTimeScore grid(parts_on(bridge, 9, true));
    ContinuousWhichTimeScore series(parts_on(bridge, 6, true));
    for (Score* score : {static_cast<Score*>(&telescope), static_cast<Score*>(&grid),
                         static_cast<Score*>(&series)})
      testing::randomise(score->network().parameters());
    const auto between_ends = [](const Tensor& logits) {
      return logits.select(1, 0) - logits.select(1, -1);
    };
    const Tensor reference = grid.reference()->path_log_ratio(x);
    EXPECT_LT(difference(telescope.logits(x).sum(1) - reference, telescope.ratio_residual(x)), 1e-9)
        << name;
    EXPECT_LT(difference(between_ends(grid.logits(x)) - reference, grid.ratio_residual(x)), 1e-9)
        << name;
    EXPECT_LT(difference(between_ends(series.logits(x, grid.times())) - reference,
                         series.ratio_residual(x)),
              1e-9)
        << name;
  }
}

TEST(ContinuousWhichTime, TimeScoreIsTheDerivativeOfTheLogits) {
  const auto [x, t] = draw_points(20, dimension);
  for (const bool with_reference : {false, true}) {
    const BridgePtr bridge = testing::bridge_named("trigonometric");
    ContinuousWhichTimeScore score(parts_on(bridge, 8, with_reference));
    testing::randomise(score.network().parameters());
    const double h = 1e-4;
    const auto logit_at = [&](const Tensor& time) {
      return torch::diagonal(score.logits(x, time.squeeze(1)));
    };
    // Central differences of order 4: what is left is rounding, 1e-16 / h.
    const Tensor slope =
        (8 * (logit_at(t + h) - logit_at(t - h)) - (logit_at(t + 2 * h) - logit_at(t - 2 * h))) /
        (12 * h);
    EXPECT_LT(difference(score.time_score(x, t).value, slope), 1e-9);
  }
}

TEST(ContinuousWhichTime, RatioResidualIsTheIntegralOfTheTimeResidual) {
  const Tensor x = draw_points(20, dimension).x;
  for (const char* name : bridges) {
    const BridgePtr bridge = testing::bridge_named(name);
    ContinuousWhichTimeScore score(parts_on(bridge, 8, true));
    testing::randomise(score.network().parameters());
    const RowIntegrand residual = [&](const Tensor& rows, const Tensor& t) {
      return score.time_residual(x.index_select(0, rows), t.unsqueeze(1)).value;
    };
    const Interval range = bridge->interval();
    const Integral integral =
        gauss_legendre(residual, x.size(0), range.to, range.from, 8, {}, x.options());
    EXPECT_LT(difference(score.ratio_residual(x), integral.value), 1e-12) << name;
  }
}

}  // namespace
}  // namespace dre
