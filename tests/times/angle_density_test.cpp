#include "dre/times/angle_density.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "dre/base/error.h"

namespace dre {
namespace {

/// The slope is the derivative of the quantile, and the density that of theta.
void expect_density(const AngleDensity& density, double (*theta)(double t)) {
  double total = 0;  // of the unnormalised density, from the slope at every u
  for (const double u : {0.01, 0.3, 0.45, 0.62, 0.99}) {
    const double h = 1e-5;
    const double difference = (density.at(u + h).t - density.at(u - h).t) / (2 * h);
    const AngleDensity::Quantile at = density.at(u);
    EXPECT_NEAR(at.slope / difference, 1, 1e-6) << u;
    const double cotangent = 1 / std::tan(theta(at.t));
    const double here = at.slope * std::sqrt(2 * cotangent * cotangent + 1);
    if (total == 0) total = here;
    EXPECT_NEAR(here / total, 1, 1e-9) << u;
  }
}

TEST(AngleDensity, QuantilesRunFromEndToEndWithTheSlopeOfTheDensity) {
  const double low = 0.003, high = M_PI / 2 - 1e-4;
  const AngleDensity density(low, high);
  EXPECT_NEAR(density.at(0).t, low / (M_PI / 2), 1e-12);
  EXPECT_NEAR(density.at(1).t, high / (M_PI / 2), 1e-12);
  expect_density(density, [](double t) { return M_PI / 2 * t; });
}

TEST(AngleDensity, OfBothSidesIsTheSameOnEach) {
  const double low = 0.003;
  const AngleDensity density = AngleDensity::of_both_sides(low);
  EXPECT_NEAR(density.at(0).t, low / M_PI, 1e-12);
  EXPECT_NEAR(density.at(0.5).t, 0.5, 1e-12);
  EXPECT_THROW(AngleDensity::of_both_sides(1.6), Error);
  for (const double u : {0.0, 0.01, 0.3, 0.5})
    EXPECT_NEAR(density.at(1 - u).t, 1 - density.at(u).t, 1e-12) << u;
  expect_density(density, [](double t) { return M_PI * std::min(t, 1 - t); });
}

TEST(AngleSampler, DrawsOneTimeInEachCell) {
  const AngleDensity density(0.003, M_PI / 2 - 1e-4);
  const AngleSampler sampler(density, torch::kFloat64);
  auto generator = Context{}.generator("angles");
  const int64_t n = 100;
  const Tensor t = sampler.draw(n, generator);
  ASSERT_EQ(t.sizes(), torch::IntArrayRef({n, 1}));
  const auto view = t.accessor<double, 2>();
  for (int64_t i = 0; i < n; ++i) {
    // Between two nodes of the table the quantile is taken as straight.
    const double slack = 1e-4;
    EXPECT_GE(view[i][0], density.at(i / 100.0).t * (1 - slack));
    EXPECT_LE(view[i][0], density.at((i + 1) / 100.0).t * (1 + slack));
  }
}

}  // namespace
}  // namespace dre
