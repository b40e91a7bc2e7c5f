#include "dre/density/spline.h"

#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include "dre/base/context.h"
#include "dre/base/error.h"
#include "dre/density/spline_places.h"
#include "tests/density/examples.h"

namespace dre {
namespace {

using namespace dre::testing;

constexpr double bound = 3;

/// Three splines, the rougher the larger `size`.
SplineKnots random_knots(int64_t bins, double size) {
  auto generator = example_context().generator("spline");
  const auto draw = [&](int64_t columns) {
    return size * normal({3, columns}, torch::kFloat64, generator);
  };
  const Tensor widths = draw(bins), heights = draw(bins);
  return spline_knots({widths, heights, draw(bins - 1)}, bound);
}

Tensor grid(double half, int64_t n) {
  return torch::linspace(-half, half, n, torch::kFloat64).expand({3, n});
}

class Spline : public ::testing::TestWithParam<int64_t> {
 protected:
  const SplineKnots knots = random_knots(GetParam(), 2);
};

TEST_P(Spline, GoesThroughItsKnotsWithTheirSlopes) {
  const SplineValue at_knots = spline(knots.x, knots);
  EXPECT_TRUE(torch::allclose(at_knots.value, knots.y, 1e-10, 1e-10));
  EXPECT_TRUE(torch::allclose(at_knots.log_derivative.exp(), knots.slope, 1e-8, 1e-8));
}

TEST_P(Spline, RisesEverywhereAndIsContinuous) {
  const Tensor x = grid(4, 100001);
  const Tensor rise = spline(x, knots).value.diff(1, 1);
  EXPECT_GT(rise.min().item<double>(), 0);
  EXPECT_LT(rise.max().item<double>(), 0.05);
}

TEST_P(Spline, InverseUndoesIt) {
  const Tensor x = grid(4, 2001);
  const SplineValue there = spline(x, knots);
  const SplineValue back = spline_inverse(there.value, knots);
  EXPECT_LT((back.value - x).abs().max().item<double>(), 1e-9);
  EXPECT_LT((back.log_derivative + there.log_derivative).abs().max().item<double>(), 1e-7);
}

TEST_P(Spline, LogDerivativeIsThatOfAutograd) {
  const Tensor x = grid(4, 2001).contiguous().requires_grad_();
  const SplineValue there = spline(x, knots);
  const Tensor slope = torch::autograd::grad({there.value.sum()}, {x}, {}, true)[0];
  EXPECT_TRUE(torch::allclose(slope.log(), there.log_derivative, 1e-9, 1e-9));
  const SplineValue back = spline_inverse(x, knots);
  const Tensor inverse_slope = torch::autograd::grad({back.value.sum()}, {x})[0];
  EXPECT_TRUE(torch::allclose(inverse_slope.log(), back.log_derivative, 1e-7, 1e-7));
}

TEST_P(Spline, TailsAreTheIdentity) {
  const Tensor x = torch::tensor({-100.0, -3.001, 3.001, 1e6}, torch::kFloat64).expand({3, 4});
  for (const SplineValue& found : {spline(x, knots), spline_inverse(x, knots)}) {
    EXPECT_TRUE(torch::equal(found.value, x));
    EXPECT_EQ(found.log_derivative.abs().max().item<double>(), 0);
  }
}

/// Training differentiates value and log-derivative with respect to the free numbers.
TEST_P(Spline, ParametersHaveFiniteGradients) {
  const Tensor free = torch::zeros({3, 3 * GetParam() - 1}, torch::kFloat64).requires_grad_();
  const auto parts = free.split_with_sizes({GetParam(), GetParam(), GetParam() - 1}, 1);
  const SplineValue found =
      spline(grid(6, 201), spline_knots({parts[0], parts[1], parts[2]}, bound));
  const Tensor gradient = torch::autograd::grad(
      {found.value.square().sum() + found.log_derivative.square().sum()}, {free})[0];
  EXPECT_TRUE(gradient.isfinite().all().item<bool>());
  EXPECT_GT(gradient.abs().sum().item<double>(), 0);
}

INSTANTIATE_TEST_SUITE_P(Bins, Spline, ::testing::Values(2, 8, 128));

/// The fused rule against the composed one: values, and gradients of both outputs.
TEST(SplinePlaces, AgreeWithTheComposedSpline) {
  const int64_t groups = 4, bins = 6, places = 50;
  auto generator = example_context().generator("places");
  const Tensor x =
      (2 * normal({groups, places}, torch::kFloat64, generator)).detach().requires_grad_();
  const Tensor numbers =
      normal({groups, 3 * bins - 1, places}, torch::kFloat64, generator).requires_grad_();
  const auto parts = numbers.transpose(1, 2)
                         .reshape({-1, 3 * bins - 1})
                         .split_with_sizes({bins, bins, bins - 1}, 1);
  const SplineValue fused = spline_places(x, numbers, bound);
  const SplineValue composed =
      spline(x.reshape({-1, 1}), spline_knots({parts[0], parts[1], parts[2]}, bound));
  EXPECT_TRUE(torch::allclose(fused.value.flatten(), composed.value.flatten(), 1e-10, 1e-10));
  EXPECT_TRUE(torch::allclose(fused.log_derivative.flatten(), composed.log_derivative.flatten(),
                              1e-9, 1e-9));
  const Tensor weight = normal({2, groups * places}, torch::kFloat64, generator);
  const auto gradients = [&](const SplineValue& found) {
    const Tensor sum = (weight[0] * found.value.flatten()).sum() +
                       (weight[1] * found.log_derivative.flatten()).sum();
    return torch::autograd::grad({sum}, {x, numbers});
  };
  const auto left = gradients(fused), right = gradients(composed);
  for (size_t i = 0; i < 2; ++i) EXPECT_TRUE(torch::allclose(left[i], right[i], 1e-8, 1e-8)) << i;
}

TEST(SplinePlaces, InverseAgreesWithTheComposedOne) {
  const int64_t groups = 4, bins = 6, places = 50;
  auto generator = example_context().generator("inverse places");
  const Tensor y = 2 * normal({groups, places}, torch::kFloat64, generator);
  const Tensor numbers = normal({groups, 3 * bins - 1, places}, torch::kFloat64, generator);
  const auto parts = numbers.transpose(1, 2)
                         .reshape({-1, 3 * bins - 1})
                         .split_with_sizes({bins, bins, bins - 1}, 1);
  const SplineValue fused = spline_places_inverse(y, numbers, bound);
  const SplineValue composed =
      spline_inverse(y.reshape({-1, 1}), spline_knots({parts[0], parts[1], parts[2]}, bound));
  EXPECT_TRUE(torch::allclose(fused.value.flatten(), composed.value.flatten(), 1e-9, 1e-9));
  EXPECT_TRUE(torch::allclose(fused.log_derivative.flatten(), composed.log_derivative.flatten(),
                              1e-8, 1e-8));
  const SplineValue back = spline_places(fused.value, numbers, bound);
  EXPECT_TRUE(torch::allclose(back.value, y, 1e-9, 1e-9));
  EXPECT_TRUE(torch::allclose(back.log_derivative, -fused.log_derivative, 1e-8, 1e-8));
  EXPECT_THROW(spline_places_inverse(y.clone().requires_grad_(), numbers, bound), Error);
}

/// In single precision, at the ends of the bound and where knots may be: back where it came from.
TEST(SplinePlaces, SinglePrecisionStaysInvertible) {
  const int64_t groups = 3, bins = 8, places = 2001;
  auto generator = example_context().generator("single places");
  const Tensor numbers =
      normal({groups, 3 * bins - 1, 1}, torch::kFloat32, generator).expand({-1, -1, places});
  const Tensor x = torch::linspace(-bound, bound, places).expand({groups, places});
  const SplineValue there = spline_places(x, numbers, bound);
  const SplineValue back = spline_places_inverse(there.value, numbers, bound);
  const Tensor allowed = 1e-5 * (1 + (-there.log_derivative).exp());
  EXPECT_LT(((back.value - x).abs() / allowed).max().item<double>(), 1);
  EXPECT_TRUE(back.log_derivative.isfinite().all().item<bool>());
}

TEST(SplinePlaces, AgreeAcrossDevices) {
  const torch::Device other = device_by_name("auto");
  if (other.is_cpu()) GTEST_SKIP() << "this machine has one device only";
  auto generator = example_context().generator("devices");
  const Tensor x = 2 * normal({4, 50}, torch::kFloat64, generator);
  const Tensor numbers = normal({4, 23, 50}, torch::kFloat64, generator);
  const auto near = [](const Tensor& a, const Tensor& b) {
    EXPECT_TRUE(torch::allclose(a.cpu(), b.cpu(), 1e-10, 1e-12));
  };
  std::vector<Tensor> gradients[2];
  for (const bool far : {false, true}) {
    const auto leaf = [&](const Tensor& a) {
      return a.to(far ? other : torch::Device(torch::kCPU)).clone().requires_grad_();
    };
    const std::vector<Tensor> leaves = {leaf(x), leaf(numbers)};
    const SplineValue out = spline_places(leaves[0], leaves[1], bound);
    near(out.value, spline_places(x, numbers, bound).value);
    near(out.log_derivative, spline_places(x, numbers, bound).log_derivative);
    gradients[far] = torch::autograd::grad({(out.value * out.log_derivative.sin()).sum()}, leaves);
  }
  for (size_t i = 0; i < 2; ++i) near(gradients[0][i], gradients[1][i]);
  const SplineValue here = spline_places_inverse(x, numbers, bound);
  const SplineValue there = spline_places_inverse(x.to(other), numbers.to(other), bound);
  near(here.value, there.value);
  near(here.log_derivative, there.log_derivative);
}

TEST(SplinePlaces, WrongShapesAreRefused) {
  EXPECT_THROW(spline_places(torch::zeros({2, 5}), torch::zeros({2, 22, 5}), bound), Error);
  EXPECT_THROW(spline_places(torch::zeros({2, 5}), torch::zeros({2, 23, 4}), bound), Error);
  EXPECT_THROW(spline_places(torch::zeros({2, 5}), torch::zeros({2, 98, 5}), bound), Error);
}

TEST(SplineKnots, ZerosGiveTheIdentity) {
  const auto zeros = [](int64_t columns) { return torch::zeros({3, columns}, torch::kFloat64); };
  const Tensor x = grid(5, 101);
  const SplineValue found = spline(x, spline_knots({zeros(8), zeros(8), zeros(7)}, bound));
  EXPECT_TRUE(torch::allclose(found.value, x, 1e-12, 1e-12));
  EXPECT_LT(found.log_derivative.abs().max().item<double>(), 1e-12);
}

TEST_P(Spline, NumbersComeBackFromTheKnots) {
  const SplineKnots again = spline_knots(spline_numbers(knots, bound), bound);
  EXPECT_TRUE(torch::allclose(again.x, knots.x, 1e-4, 1e-4));
  EXPECT_TRUE(torch::allclose(again.y, knots.y, 1e-4, 1e-4));
  EXPECT_TRUE(torch::allclose(again.slope, knots.slope, 1e-9, 1e-2));
}

TEST(SplineKnots, SinglePrecisionStaysInvertible) {
  SplineKnots knots = random_knots(8, 2);
  for (Tensor* part : {&knots.x, &knots.y, &knots.slope}) *part = part->to(torch::kFloat32);
  const Tensor x = grid(4, 20001).to(torch::kFloat32);
  const SplineValue there = spline(x, knots);
  EXPECT_TRUE(there.log_derivative.isfinite().all().item<bool>());
  const SplineValue back = spline_inverse(there.value, knots);
  // An error of one rounding in y is one of the inverse slope times that in x.
  const Tensor allowed = 1e-5 * (1 + (-there.log_derivative).exp());
  EXPECT_LT(((back.value - x).abs() / allowed).max().item<double>(), 1);
}

TEST(SplineKnots, WrongShapesAreRefused) {
  const auto zeros = [](int64_t columns) { return torch::zeros({3, columns}, torch::kFloat64); };
  EXPECT_THROW(spline_knots({zeros(8), zeros(7), zeros(7)}, bound), Error);
  EXPECT_THROW(spline_knots({zeros(1), zeros(1), zeros(0)}, bound), Error);
  EXPECT_THROW(spline(torch::zeros({2, 5}), random_knots(4, 1)), Error);
}

}  // namespace
}  // namespace dre
