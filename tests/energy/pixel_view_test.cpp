#include "dre/energy/pixel_view.h"

#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <cmath>

#include "dre/base/error.h"
#include "tests/density/examples.h"
#include "tests/energy/energy_set.h"

namespace dre {
namespace {

using namespace dre::testing;

/// Of a noise model that is not linear the network sees the pixels, too: its outputs then change
/// with z along two ways, which tangents and gradients must both follow.
TEST(EnergyPixels, PixelsAreSeenWithTheirTangentsAndGradients) {
  const Context context{torch::kCPU, torch::kFloat64, 3};
  auto generator = context.generator("points");
  for (const DensityPtr& noise : {copula_example(16), spline_flow_example(4, 4, 1)}) {
    SCOPED_TRACE(noise->name());
    EnergyOptions options = tiny("velocity");
    options.pixel_view = true;
    EnergyModel model(noise, options, context);
    {
      const torch::NoGradGuard no_grad;
      Tensor flat = model.network().parameters().flat();
      flat.add_(0.2 * normal(flat.sizes(), flat.options(), generator));
    }
    const Tensor t = torch::tensor({{0.1}, {0.5}, {0.8}}, torch::kFloat64);
    const Tensor z = normal({3, 16}, torch::kFloat64, generator);
    const Tensor way = normal({3, 16}, torch::kFloat64, generator);
    EXPECT_EQ(dre::at(model.network().parameters().named(), "first.weight").size(3), 4);
    EXPECT_EQ(dre::at(model.network().parameters().named(), "last.weight").size(0), 3);
    const auto network = [&](const Dual& x, const Dual& at) {
      return model.network().forward(x, at);
    };
    const auto out = [&](const Tensor& x) { return network(x, t).value; };
    const double step = 1e-6;
    const Tensor slope = (out(z + step * way) - out(z - step * way)) / (2 * step);
    const Tensor rise = (network(z, t + step).value - network(z, t - step).value) / (2 * step);
    {
      const torch::NoGradGuard no_grad;
      const Tensor one = torch::ones_like(t);
      const auto near = [](const Tensor& a, const Tensor& b) {
        EXPECT_LT((a - b).abs().max().item<double>(), 1e-6 * (1 + b.abs().max().item<double>()));
      };
      near(network({z, way}, t).tangent, slope);
      near(network(z, {t, one}).tangent, rise);
      near(network({z, way}, {t, one}).tangent, slope + rise);
    }
    EXPECT_THROW(network({z, way}, t), Error);  // gradients of tangents would be lost
    const Tensor at = z.clone().requires_grad_();
    const Tensor weight = normal(slope.sizes(), torch::kFloat64, generator);
    const Tensor gradient = torch::autograd::grad({(out(at) * weight).sum()}, {at})[0];
    EXPECT_NEAR((gradient * way).sum().item<double>(), (slope * weight).sum().item<double>(),
                1e-6 * (1 + (slope * weight).abs().sum().item<double>()));
    // Gradients of the parameters, without those of z, and along with them.
    std::vector<Tensor> leaves;
    for (const auto& [name, leaf] : model.network().parameters().named()) leaves.push_back(leaf);
    const auto alone = torch::autograd::grad({(out(z) * weight).sum()}, leaves);
    const auto along = torch::autograd::grad({(out(at) * weight).sum()}, leaves);
    for (size_t i = 0; i < leaves.size(); ++i)
      EXPECT_TRUE(torch::allclose(alone[i], along[i], 1e-8, 1e-10)) << "leaf " << i;
  }
}

}  // namespace
}  // namespace dre
