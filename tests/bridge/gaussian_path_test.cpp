#include "dre/bridge/gaussian_path.h"

#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

namespace dre {
namespace {

GaussianEnds sample_ends() {
  return {torch::tensor({0.5, -1.0, 0.2}, torch::kFloat64),
          torch::tensor({0.3, 1.5, 1.0}, torch::kFloat64),
          torch::tensor({-0.5, 1.0, 0.7}, torch::kFloat64),
          torch::tensor({1.2, 0.5, 1.0}, torch::kFloat64)};
}

struct Points {
  Tensor x, t;
};

Points sample_points() {
  Context context{torch::kCPU, torch::kFloat64, 1};
  auto generator = context.generator("points");
  return {normal({20, 3}, context.options(), generator).requires_grad_(),
          (uniform({20, 1}, context.options(), generator) * 0.9 + 0.05).requires_grad_()};
}

Tensor gradient(const Tensor& y, const Tensor& x) {
  return torch::autograd::grad({y.sum()}, {x}, {}, true, true)[0];
}

/// Calls `body(name, path)` for the path over each bridge.
template <class Body>
void for_each_path(Body body) {
  for (const auto& name : BridgeOptions::bridge_names()) {
    body(name, GaussianPath(make_bridge(name), sample_ends()));
  }
}

TEST(GaussianPath, ScoresAreDerivativesOfTheLogDensity) {
  for_each_path([](const std::string& name, const GaussianPath& path) {
    const auto [x, t] = sample_points();
    const Tensor log_density = path.log_density(x, t);
    const Tensor by_t = gradient(log_density, t).squeeze(1);
    EXPECT_TRUE(torch::allclose(path.time_score(x, t).value.sum(1), by_t, 1e-9, 1e-9)) << name;
    EXPECT_TRUE(torch::allclose(path.data_score(x, t).value, gradient(log_density, x), 1e-9, 1e-9))
        << name;
  });
}

TEST(GaussianPath, ManyTimesAgreeWithOneAtATime) {
  for_each_path([](const std::string& name, const GaussianPath& path) {
    const auto [x, t] = sample_points();
    const Tensor all = path.log_densities(x, t.squeeze(1));
    for (int64_t k = 0; k < t.size(0); ++k) {
      const Tensor one = path.log_density(x, t.slice(0, k, k + 1).expand({x.size(0), 1}));
      EXPECT_TRUE(torch::allclose(all.select(1, k), one, 1e-10, 1e-10)) << name;
    }
  });
}

TEST(GaussianPath, PartialsMatchAutograd) {
  for_each_path([](const std::string& name, const GaussianPath& path) {
    const auto [x, t] = sample_points();
    for (const Partial& part :
         {path.time_score(x, t), path.data_score(x, t), path.velocity(x, t)}) {
      EXPECT_TRUE(torch::allclose(part.by_x, gradient(part.value, x), 1e-9, 1e-9)) << name;
      EXPECT_TRUE(torch::allclose(part.by_time.sum(1, true), gradient(part.value, t), 1e-8, 1e-8))
          << name;
    }
  });
}

TEST(GaussianPath, ContractionIsMinusTheDivergence) {
  for_each_path([](const std::string& name, const GaussianPath& path) {
    const auto [x, t] = sample_points();
    const Partial contraction = path.contraction(x, t);
    EXPECT_TRUE(torch::allclose(contraction.value, -path.velocity(x, t).by_x, 1e-12, 1e-12))
        << name;
    EXPECT_TRUE(torch::allclose(contraction.by_time.sum(1, true), gradient(contraction.value, t),
                                1e-8, 1e-8))
        << name;
  });
}

TEST(GaussianPath, SatisfiesTheContinuityEquation) {
  for_each_path([](const std::string& name, const GaussianPath& path) {
    const auto [x, t] = sample_points();
    const Partial velocity = path.velocity(x, t);
    const Tensor transported =
        -velocity.by_x.sum(1) - (velocity.value * path.data_score(x, t).value).sum(1);
    EXPECT_TRUE(torch::allclose(path.time_score(x, t).value.sum(1), transported, 1e-9, 1e-9))
        << name;
  });
}

TEST(GaussianPath, TimeScoreIntegratesToTheRatioOfThePathsEnds) {
  for_each_path([](const std::string& name, const GaussianPath& path) {
    const Tensor x = sample_points().x.detach();
    const Interval range = path.bridge().interval();
    // Midpoint rule in u with t = from + length (3u^2 - 2u^3), which flattens root singularities at
    // both ends.
    const int64_t n = 1000;
    Tensor total = torch::zeros({x.size(0)}, torch::kFloat64);
    for (int64_t i = 0; i < n; ++i) {
      const double u = (i + 0.5) / n;
      const double t = range.from + range.length() * u * u * (3 - 2 * u);
      const double speed = range.length() * 6 * u * (1 - u);
      total +=
          path.time_score(x, torch::full({1, 1}, t, torch::kFloat64)).value.sum(1) * (speed / n);
    }
    EXPECT_TRUE(torch::allclose(-total, path.path_log_ratio(x), 2e-4, 2e-4)) << name;
  });
}

TEST(GaussianPath, TheRatioKeepsItsDigitsFarAway) {
  const auto one = [](double value) { return torch::full({1}, value, torch::kFloat64); };
  const GaussianEnds ends{one(0.5), one(2), one(-0.25), one(2)};
  for (const double x : {0.0, 3.0, 1e10, 1e40}) {
    const double exact = 0.75 / 2 * (x - 0.125);
    EXPECT_NEAR(gaussian_log_ratio(ends, one(x).unsqueeze(1)).item<double>(), exact,
                1e-14 * (1 + std::abs(exact)));
  }
}

TEST(GaussianPath, TransportCarriesOneSideToTheOther) {
  const GaussianPath path(make_bridge("trigonometric"), sample_ends());
  const Tensor moved =
      path.transport(path.ends().mean0.unsqueeze(0) + path.ends().variance0.sqrt());
  EXPECT_TRUE(
      torch::allclose(moved[0], path.ends().mean1 + path.ends().variance1.sqrt(), 1e-12, 1e-12));
}

}  // namespace
}  // namespace dre
