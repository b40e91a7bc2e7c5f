#include "dre/network/mlp.h"

#include <gtest/gtest.h>

#include "dre/base/error.h"
#include "dre/network/joint_mlp.h"

namespace dre {
namespace {

Tensor points(int64_t columns, const Context& context) {
  auto generator = context.generator("points");
  return normal({5, columns}, context.options(), generator);
}

TEST(Mlp, ThePapersTimeScoreNetworkHasItsSize) {
  const Context context;
  auto generator = context.generator("start");
  MlpOptions options;
  options.inputs = 2;
  EXPECT_EQ(Mlp(options, context, generator).parameters().count(), 4 * 256 + 2 * 257 * 256 + 257);
  EXPECT_EQ(JointMlp({2}, context, generator).parameters().count(),
            4 * 256 + 257 * 512 + 4 * 257 * 256 + 257 * 3);
}

TEST(Mlp, ZeroLastLayerGivesZeroOutputAndAGradient) {
  const Context context;
  auto generator = context.generator("start");
  MlpOptions options;
  options.inputs = 2;
  options.zero_last = true;
  const Mlp mlp(options, context, generator);
  const JointMlp joint({2, 16, "elu", true}, context, generator);
  const Tensor x = points(2, context), t = points(1, context);
  for (const Network* network :
       {static_cast<const Network*>(&mlp), static_cast<const Network*>(&joint)}) {
    const Dual out = network->forward({x, x}, t);
    EXPECT_EQ(out.value.abs().max().item<double>(), 0);
    EXPECT_EQ(out.tangent.abs().max().item<double>(), 0);
    (out.value.sum() + out.tangent.sum()).backward();
    EXPECT_GT(network->parameters().named().back().second.grad().abs().max().item<double>(), 0);
  }
}

TEST(Mlp, StartsWithinTheBoundsOfItsFanIn) {
  const Context context;
  auto generator = context.generator("start");
  MlpOptions options;
  options.inputs = 3;
  options.width = 100;
  const Mlp mlp(options, context, generator);
  for (const auto& [name, leaf] : mlp.parameters().named()) {
    const double bound = 1 / std::sqrt(name.starts_with("layer.0") ? 4.0 : 100.0);
    const double largest = leaf.abs().max().item<double>();
    EXPECT_LE(largest, bound) << name;
    EXPECT_GT(largest, 0.5 * bound * (leaf.numel() > 10)) << name;
  }
}

TEST(Mlp, OneSeedGivesOneNetworkInEveryPrecision) {
  MlpOptions options;
  const auto weights = [&](torch::ScalarType dtype) {
    const Context context{torch::kCPU, dtype, 9};
    auto generator = context.generator("start");
    Mlp mlp(options, context, generator);
    mlp.parameters().flatten();
    return mlp.parameters().flat();
  };
  EXPECT_TRUE(torch::equal(weights(torch::kFloat64).to(torch::kFloat32), weights(torch::kFloat32)));
}

TEST(Mlp, WithoutHiddenLayersItIsLinear) {
  const Context context{torch::kCPU, torch::kFloat64, 1};
  auto generator = context.generator("start");
  MlpOptions options;
  options.inputs = 2;
  options.depth = 0;
  options.time = false;
  const Mlp mlp(options, context, generator);
  const Tensor x = points(2, context);
  const auto f = [&](const Tensor& at) { return mlp.forward(at, {}).value; };
  EXPECT_LT((f(x) + f(-x) - 2 * f(torch::zeros_like(x))).abs().max().item<double>(), 1e-14);
}

TEST(Mlp, UnknownActivationsAreListed) {
  const Context context;
  auto generator = context.generator("start");
  MlpOptions options;
  options.activation = "relu";
  try {
    Mlp mlp(options, context, generator);
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "activation must be one of elu, silu, tanh, softplus, leaky-relu, got 'relu'");
  }
}

}  // namespace
}  // namespace dre
