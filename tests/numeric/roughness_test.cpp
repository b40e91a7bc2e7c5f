#include "dre/numeric/roughness.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "dre/base/error.h"

namespace dre {
namespace {

Tensor draw(int64_t n, int64_t d, const char* name) {
  auto generator = Context{torch::kCPU, torch::kFloat64, 0}.generator(name);
  return normal({n, d}, torch::kFloat64, generator);
}

double of(const Tensor& x, const Tensor& y) { return roughness(x, y).item<double>(); }

TEST(Roughness, OfCubicsIsZero) {
  const Tensor line = draw(300, 1, "x"), plane = draw(300, 2, "x");
  EXPECT_LT(of(line, line.pow(3) - line), 1e-12);
  EXPECT_LT(of(plane, (plane.select(1, 0) * plane.select(1, 1).square()).unsqueeze(1)), 1e-12);
}

TEST(Roughness, OfOneJumpAmongEqualStepsIsKnown) {
  // Of a single 1 among zeros, five windows see the cubic weights of equal steps: 1, 2/3 (twice)
  // and 1/6 (twice). Twenty of them, far apart.
  Tensor y = torch::zeros({200, 1}, torch::kFloat64);
  y.slice(0, 5, 200, 10).fill_(1);
  EXPECT_NEAR(of(torch::arange(200, torch::kFloat64).unsqueeze(1), y), 2.0 / 3, 1e-12);
}

TEST(Roughness, FallsWithTheRowsForFunctionsAndNotForNoise) {
  const Tensor x = draw(2000, 1, "x"), noise = draw(2000, 1, "noise");
  const Tensor wave = (3 * x).sin();
  EXPECT_LT(of(x, wave), of(x.slice(0, 0, 200), wave.slice(0, 0, 200)) / 100);
  EXPECT_GT(of(x, wave + 0.05 * noise), 0.3);
  EXPECT_GT(of(x, noise), 0.5);
}

TEST(Roughness, DoesNotDependOnUnitsOrTailsOfWhatIsNoise) {
  const Tensor x = draw(500, 1, "x"), y = x + 0.05 * draw(500, 1, "noise");
  EXPECT_NEAR(of(1e6 * x + 5, 1e-6 * y - 3), of(x, y), 1e-6);
  EXPECT_GT(of(x, (20 * y).exp()), 0.3);
  EXPECT_GT(of((20 * x).exp(), y), 0.3);
}

TEST(Roughness, WhereNothingCanBeSaidItIsInfinite) {
  const Tensor x = draw(500, 1, "x");
  EXPECT_TRUE(std::isinf(of(x, (x > 0).to(torch::kFloat64))));
  EXPECT_TRUE(std::isinf(of(x, torch::ones_like(x))));
  EXPECT_TRUE(std::isinf(of(x.slice(0, 0, 19), x.slice(0, 0, 19))));
  EXPECT_THROW(roughness(draw(50, 3, "x"), draw(50, 1, "x")), Error);
}

}  // namespace
}  // namespace dre
