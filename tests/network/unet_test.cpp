#include "dre/network/unet.h"

#include <gtest/gtest.h>

#include "dre/base/error.h"
#include "dre/network/residual_unet.h"
#include "tests/support/gaussian_pair.h"

namespace dre {
namespace {

TEST(Unet, HasThePapersParameters) {
  const Context context;
  auto generator = context.generator("unet");
  const Unet network({}, context, generator);
  EXPECT_EQ(network.parameters().count(), 3714066);
  const torch::NoGradGuard no_grad;
  const Tensor x = normal({2, 784}, torch::kFloat32, generator);
  EXPECT_EQ(network.forward(x, torch::full({2, 1}, 0.5)).value.sizes(), torch::IntArrayRef({2, 1}));
}

TEST(ResidualUnet, StartsAtZero) {
  const Context context;
  auto generator = context.generator("unet");
  ResidualUnetOptions options;
  options.side = 8;
  options.width = 8;
  const ResidualUnet network(options, {}, context, generator);
  const torch::NoGradGuard no_grad;
  const Tensor x = normal({3, 64}, torch::kFloat32, generator);
  const Tensor out = network.forward(x, torch::full({3, 1}, 0.5)).value;
  EXPECT_EQ(out.sizes(), torch::IntArrayRef({3, 128}));
  EXPECT_EQ(out.abs().max().item<float>(), 0);
}

TEST(ResidualUnet, RefusesWhatItCannotMake) {
  const Context context;
  auto generator = context.generator("unet");
  const Tensor same = torch::eye(64), offset = torch::zeros({64});
  ResidualUnetOptions options;
  options.side = 8;
  options.width = 8;
  const auto make = [&](const PixelMap& pixels) {
    return ResidualUnet(options, pixels, context, generator).outputs();
  };
  options.pixel_head = true;
  EXPECT_EQ(make(linear_pixel_map(same, offset)), 128);
  EXPECT_THROW(make({}), Error);
  EXPECT_THROW(make({[](const Dual& z) { return z; }}), Error);
  EXPECT_THROW(linear_pixel_map(same, torch::zeros({63})), Error);
  options.first_time = options.last_time;
  EXPECT_THROW(make(linear_pixel_map(same, offset)), Error);
}

/// Values as at the nearest time inside, tangents zero; inside, both go by the time itself.
TEST(ResidualUnet, TimesBeyondTheTrainedOnesGiveTheNearestTrained) {
  const Context context = testing::double_context();
  auto generator = context.generator("unet");
  ResidualUnetOptions options;
  options.side = 4;
  options.levels = 2;
  options.width = 8;
  options.first_time = 0.1;
  options.last_time = 0.7;
  ResidualUnet network(options, {}, context, generator);
  testing::randomise(network.parameters());
  const torch::NoGradGuard no_grad;
  const Tensor x = normal({1, 16}, torch::kFloat64, generator);
  const auto at = [&](double t) {
    return network.forward(
        x, {torch::full({1, 1}, t, torch::kFloat64), torch::ones({1, 1}, torch::kFloat64)});
  };
  for (const auto& [outside, nearest] : {std::pair(0.0, 0.1), {0.05, 0.1}, {1.0, 0.7}}) {
    EXPECT_TRUE(torch::equal(at(outside).value, at(nearest).value)) << outside;
    EXPECT_EQ(at(outside).tangent.abs().max().item<double>(), 0) << outside;
  }
  EXPECT_FALSE(torch::equal(at(0.5).value, at(0.6).value));
  EXPECT_GT(at(0.5).tangent.abs().max().item<double>(), 0);
}

}  // namespace
}  // namespace dre
