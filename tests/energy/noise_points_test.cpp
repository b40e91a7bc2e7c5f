#include "dre/energy/noise_points.h"

#include <gtest/gtest.h>

#include "tests/density/examples.h"

namespace dre {
namespace {

using namespace dre::testing;

Tensor drawn(const NoisePoints& points) {
  auto generator = example_context().generator("draws");
  return points.draw(200, generator);
}

/// A fit that goes on draws from the images that it had.
TEST(NoisePoints, BlocksAreFoundAgainByTheirNumber) {
  const BridgeSpace space(copula_example(4), gaussian_example(4));
  NoisePoints renewed(space, 5, example_context()), resumed(space, 5, example_context());
  EXPECT_TRUE(drawn(renewed).equal(drawn(resumed)));
  for (int i = 0; i < 3; ++i) renewed.renew();
  EXPECT_EQ(renewed.oldest(), 3);
  EXPECT_FALSE(drawn(renewed).equal(drawn(resumed)));
  resumed.begin_at(renewed.oldest());
  EXPECT_TRUE(drawn(renewed).equal(drawn(resumed)));
  renewed.renew();
  resumed.renew();
  EXPECT_TRUE(drawn(renewed).equal(drawn(resumed)));
}

/// In latent space the noise is N(0, I), new for every batch, and nothing is kept.
TEST(NoisePoints, OfALatentSpaceAreNormalNumbers) {
  const BridgeSpace space(gaussian_example(4), nullptr);
  NoisePoints points(space, 5, example_context());
  const Tensor before = drawn(points);
  points.renew();
  EXPECT_EQ(points.oldest(), 0);
  auto generator = example_context().generator("draws");
  EXPECT_TRUE(drawn(points).equal(before));
  EXPECT_TRUE(normal({200, 4}, torch::kFloat64, generator).equal(before));
}

}  // namespace
}  // namespace dre
