#include "dre/network/unet.h"

#include <gtest/gtest.h>

#include "dre/base/error.h"
#include "dre/network/residual_unet.h"

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

TEST(ResidualUnet, RefusesPixelHeadsItCannotMake) {
  const Context context;
  auto generator = context.generator("unet");
  const Tensor same = torch::eye(64), offset = torch::zeros({64});
  const auto make = [&](int64_t heads, const PixelMap& pixels) {
    ResidualUnetOptions options;
    options.side = 8;
    options.width = 8;
    options.pixel_heads = heads;
    return ResidualUnet(options, pixels, context, generator).outputs();
  };
  EXPECT_EQ(make(2, linear_pixel_map(same, offset)), 128);
  EXPECT_THROW(make(3, linear_pixel_map(same, offset)), Error);
  EXPECT_THROW(make(1, {}), Error);
  EXPECT_THROW(make(1, {[](const Dual& z) { return z; }}), Error);
  EXPECT_THROW(linear_pixel_map(same, torch::zeros({63})), Error);
}

TEST(ResidualUnet, TimesBeyondTheTrainedOnesGiveTheLastTrained) {
  const auto features = [](double t) {
    return time_features(torch::full({1, 1}, t, torch::kFloat64)).value;
  };
  for (const double t : {0.0, 1.0}) EXPECT_TRUE(features(t).isfinite().all().item<bool>());
  EXPECT_TRUE(torch::equal(features(0), features(1e-4)));
  EXPECT_TRUE(torch::equal(features(1), features(1 - 1e-6)));
  EXPECT_FALSE(torch::equal(features(0.5), features(0.6)));
}

}  // namespace
}  // namespace dre
