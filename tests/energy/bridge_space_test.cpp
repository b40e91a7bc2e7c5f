#include "dre/energy/bridge_space.h"

#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include "dre/base/error.h"
#include "tests/density/examples.h"

namespace dre {
namespace {

using namespace dre::testing;

/// log |det dy/dz| at one latent point, by autograd.
double log_jacobian(const BridgeSpace& space, const Tensor& z) {
  const Tensor at = z.clone().requires_grad_();
  const Tensor y = space.of_latent(at);
  std::vector<Tensor> rows;
  for (int64_t i = 0; i < y.size(1); ++i)
    rows.push_back(torch::autograd::grad({y.select(1, i).sum()}, {at}, {}, true)[0].squeeze(0));
  return std::get<1>(torch::slogdet(torch::stack(rows))).item<double>();
}

/// Points of the space are latent points of the noise model moved by a map whose determinant is in
/// the density; and they are logits moved by another.
TEST(BridgeSpace, DensitiesFollowTheirPoints) {
  auto generator = example_context().generator("points");
  for (const DensityPtr& noise :
       {gaussian_example(4), copula_example(4), spline_flow_example(2, 2, 1)})
    for (const bool between_images : {false, true}) {
      SCOPED_TRACE(noise->name());
      const BridgeSpace space(noise, between_images ? gaussian_example(4) : nullptr);
      EXPECT_EQ(space.between_images(), between_images);
      const Tensor z = normal({1, 4}, torch::kFloat64, generator);
      const Tensor y = space.of_latent(z);
      EXPECT_NEAR(space.noise_log_prob(y).item<double>() + log_jacobian(space, z),
                  standard_normal_log_prob(z).item<double>(), 1e-7);
      const Moved x = space.leave(y), again = space.enter(x.point);
      EXPECT_TRUE(torch::allclose(again.point, y, 1e-8, 1e-8));
      EXPECT_NEAR(noise->log_prob(x.point).item<double>(),
                  (space.noise_log_prob(y) + again.log_determinant).item<double>(), 1e-7);
    }
  EXPECT_THROW(BridgeSpace(nullptr), Error);
}

TEST(BridgeSpace, DrawsAreOfTheNoiseModel) {
  const DensityPtr noise = copula_example(2), frame = gaussian_example(2);
  const BridgeSpace space(noise, frame);
  auto first = example_context().generator("draws"), second = example_context().generator("draws");
  const Tensor drawn = space.draw_noise(5, first);
  EXPECT_TRUE(torch::allclose(drawn, frame->to_latent(noise->sample(5, second)).point, 1e-9, 1e-9));
}

}  // namespace
}  // namespace dre
