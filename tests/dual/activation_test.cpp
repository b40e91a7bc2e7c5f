#include "dre/dual/activation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "dre/base/context.h"
#include "dre/base/error.h"
#include "tests/dual/jvp.h"

namespace dre {
namespace {

using testing::Tensors;

/// phi, phi' and phi'' in long double, from formulas other than those of the kernels.
struct Truth {
  long double value, slope, bend;
};

Truth elu_truth(long double x) {
  if (x > 0) return {x, 1, 0};
  return {std::expm1(x), std::exp(x), std::exp(x)};
}

Truth tanh_truth(long double x) {
  const long double sech = 1 / std::cosh(x);
  return {std::tanh(x), sech * sech, -2 * std::tanh(x) * sech * sech};
}

Truth silu_truth(long double x) {
  const long double up = 1 / (1 + std::exp(-x)), down = 1 / (1 + std::exp(x));
  return {x * up, up + x * up * down, up * down * (2 + x * (down - up))};
}

Truth softplus_truth(long double x) {
  const long double up = 1 / (1 + std::exp(-x)), down = 1 / (1 + std::exp(x));
  return {x > 30 ? x + std::exp(-x) : std::log1p(std::exp(x)), up, up * down};
}

Truth leaky_truth(long double x) {
  if (x > 0) return {x, 1, 0};
  return {0.3L * x, 0.3L, 0};
}

struct Case {
  std::string name;
  Dual (*ours)(const Dual&);
  Truth (*truth)(long double);
};

const std::vector<Case> cases = {{"elu", elu, elu_truth},
                                 {"tanh", tanh, tanh_truth},
                                 {"silu", silu, silu_truth},
                                 {"softplus", softplus, softplus_truth},
                                 {"leaky-relu", leaky_relu, leaky_truth}};

/// Ends, zero of both signs, tiny and subnormal numbers, and a dense grid in -100 ... 100.
Tensor wide_range(torch::ScalarType dtype) {
  const Tensor special = torch::tensor({0.0, -0.0, 1e-45, -1e-45, 1e-38, -1e-38, 1e-20, -1e-20,
                                        1e-7, -1e-7, 0.34657, -0.34658, 1e4, -1e4, 1e30, -1e30},
                                       torch::kFloat64);
  const Tensor grid = torch::linspace(-100, 100, 6007, torch::kFloat64);
  const Tensor near_zero = torch::linspace(-1, 1, 1009, torch::kFloat64);
  return torch::cat({special, grid, near_zero}).to(dtype);
}

/// Largest error in units of `epsilon` relative to the truth, or to `floor` where that is smaller.
template <class T>
double worst(const Tensor& got, const Tensor& x,
             const std::function<long double(long double)>& truth, double floor) {
  double out = 0;
  for (int64_t i = 0; i < x.numel(); ++i) {
    const long double want = truth(x.data_ptr<T>()[i]);
    const long double error = std::fabs(static_cast<long double>(got.data_ptr<T>()[i]) - want);
    out = std::max<double>(out, error / std::max<long double>(std::fabs(want), floor));
    if (std::isnan(static_cast<double>(error))) return error;
  }
  return out / std::numeric_limits<T>::epsilon();
}

/// Slope through the tangent of direction 1, bend through the gradient of that tangent.
template <class T>
void check_jet(const Case& item, double units, double units_bend) {
  // Results below the smallest normal number may be flushed to zero, and silu multiplies them by x.
  constexpr double floor = 200 * std::numeric_limits<T>::min() / std::numeric_limits<T>::epsilon();
  // silu' and silu'' cross zero: there the error is relative to their terms, of order one.
  const double floor_slope = item.name == "silu" ? 0.1 : floor;
  const Tensor x = wide_range(torch::CppTypeToScalarType<T>::value).requires_grad_();
  const Dual y = item.ours({x, torch::ones_like(x)});
  EXPECT_TRUE(torch::equal(item.ours(x).value, y.value));
  const Tensor bend = testing::gradients(y.tangent.sum(), {x})[0];
  const Tensor slope = testing::gradients(item.ours(x).value.sum(), {x})[0];
  const auto part = [&](long double Truth::*field) {
    return [=](long double at) { return item.truth(at).*field; };
  };
  EXPECT_LT(worst<T>(y.value, x, part(&Truth::value), floor), units);
  EXPECT_LT(worst<T>(y.tangent, x, part(&Truth::slope), floor_slope), units);
  EXPECT_LT(worst<T>(slope, x, part(&Truth::slope), floor_slope), units);
  EXPECT_LT(worst<T>(bend, x, part(&Truth::bend), floor_slope), units_bend);
}

TEST(Activation, Float32StaysWithinAFewUnits) {
  for (const Case& item : cases) {
    SCOPED_TRACE(item.name);
    check_jet<float>(item, 4, 6);
  }
}

TEST(Activation, Float64StaysWithinAFewUnits) {
  for (const Case& item : cases) {
    SCOPED_TRACE(item.name);
    check_jet<double>(item, 4, 6);
  }
}

TEST(Activation, NotANumberStaysOne) {
  const Tensor x = torch::full({9}, std::numeric_limits<float>::quiet_NaN());
  for (const Case& item : cases) {
    const Dual y = item.ours({x, torch::ones_like(x)});
    EXPECT_TRUE(y.value.isnan().all().item<bool>()) << item.name;
    if (item.ours == leaky_relu) continue;  // its slope knows two numbers only
    EXPECT_TRUE(y.tangent.isnan().all().item<bool>()) << item.name;
  }
}

TEST(Activation, InfinityHasItsLimit) {
  const double infinity = std::numeric_limits<double>::infinity();
  const Tensor x = torch::tensor({-infinity, infinity}, torch::kFloat32);
  const auto limits = [&](Dual (*function)(const Dual&)) { return function(x).value; };
  EXPECT_TRUE(torch::equal(limits(elu), torch::tensor({-1.0, infinity}, torch::kFloat32)));
  EXPECT_TRUE(torch::equal(limits(tanh), torch::tensor({-1.0, 1.0}, torch::kFloat32)));
  EXPECT_TRUE(torch::equal(limits(softplus), torch::tensor({0.0, infinity}, torch::kFloat32)));
}

/// Formats without a fused loop take the tensor formulas; bfloat16 stands for them on the CPU.
TEST(Activation, TensorFormulasAgreeWithTheLoops) {
  auto generator = Context{}.generator("activation");
  const Tensor x = normal({64}, torch::kFloat32, generator).to(torch::kBFloat16);
  const Tensor v = normal({64}, torch::kFloat32, generator).to(torch::kBFloat16);
  for (const Case& item : cases) {
    SCOPED_TRACE(item.name);
    const Tensor a = x.clone().requires_grad_(), b = x.to(torch::kFloat32).requires_grad_();
    const Dual coarse = item.ours({a, v}), fine = item.ours({b, v.to(torch::kFloat32)});
    EXPECT_LT(testing::difference(coarse.value.to(torch::kFloat32), fine.value), 0.03);
    EXPECT_LT(testing::difference(coarse.tangent.to(torch::kFloat32), fine.tangent), 0.03);
    const Tensor ga = testing::gradients((coarse.value + coarse.tangent).sum(), {a})[0];
    const Tensor gb = testing::gradients((fine.value + fine.tangent).sum(), {b})[0];
    EXPECT_LT(testing::difference(ga.to(torch::kFloat32), gb), 0.03);
  }
}

TEST(Activation, SecondDerivativesAreRefused) {
  const Tensor x = torch::ones({3}).requires_grad_();
  const Dual y = elu(Dual(x));
  EXPECT_THROW(torch::autograd::grad({y.value.sum()}, {x}, {}, true, true), Error);
}

}  // namespace
}  // namespace dre
