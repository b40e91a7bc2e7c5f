/// One battery over all networks: every one is compared with a plain version of itself, written
/// with LibTorch's own operations and differentiated by double backward in float64.
#include <gtest/gtest.h>

#include "dre/base/error.h"
#include "dre/network/gated_mlp.h"
#include "dre/network/joint_mlp.h"
#include "dre/network/mlp.h"
#include "dre/network/parametric_gaussian.h"
#include "dre/network/parametric_gaussian_1d.h"
#include "dre/network/quadratic.h"
#include "dre/network/unet.h"
#include "tests/dual/jvp.h"
#include "tests/network/plain_networks.h"
#include "tests/network/plain_unets.h"

namespace dre {
namespace {

using namespace dre::testing;

struct Case {
  std::string name;
  std::function<std::unique_ptr<Network>(const Context&, at::Generator&)> make;
  std::function<Tensor(const Plain&, const Tensor& x, const Tensor& t)> plain;
  int64_t inputs;
  bool time;
  int64_t outputs;
  int64_t count;
};

void PrintTo(const Case& item, std::ostream* out) { *out << item.name; }

std::unique_ptr<Network> make_mlp(int64_t inputs, bool time, const std::string& activation,
                                  const Context& context, at::Generator& generator) {
  MlpOptions options;
  options.inputs = inputs;
  options.time = time;
  options.width = 12;
  options.activation = activation;
  options.outputs = 2;
  return std::make_unique<Mlp>(options, context, generator);
}

/// Small U-Nets: 20 pixels are the fewest that the paper's four convolutions leave something of.
UnetOptions small_unet() {
  UnetOptions options;
  options.side = 20;
  options.outputs = 2;
  options.width = 4;
  options.embedding = 8;
  options.groups = 4;
  return options;
}

ResidualUnetOptions small_residual_unet() {
  ResidualUnetOptions options;
  options.pixel_head = true;
  options.side = 4;
  options.width = 4;
  options.levels = 2;
  options.blocks = 1;
  options.groups = 2;
  return options;
}

/// Some invertible map between latent and pixel space, for images of 16 pixels.
Tensor to_small_pixels() {
  const Tensor square = torch::cos(torch::arange(256, torch::kFloat64) * 1.7).view({16, 16});
  return torch::eye(16, torch::kFloat64) + 0.2 * square;
}
Tensor small_offset() { return 0.1 * torch::cos(torch::arange(16, torch::kFloat64) * 1.7); }

/// Some curved view of images.
PixelMap curved_map() {
  PixelMap map;
  map.view = [](const Dual& z) { return tanh(z * 0.5 + 0.25); };
  return map;
}

/// As velocity moments use it: the first head has a part in pixel space.
Case residual_unet_case() {
  const ResidualUnetOptions options = small_residual_unet();
  return {"residual_unet",
          [options](const Context& c, at::Generator& g) -> std::unique_ptr<Network> {
            return std::make_unique<ResidualUnet>(
                options,
                linear_pixel_map(to_small_pixels().to(c.options()), small_offset().to(c.options())),
                c, g);
          },
          [options](const Plain& p, const Tensor& x, const Tensor& t) {
            return plain_residual_unet(p, x, t, options, to_small_pixels(), small_offset());
          },
          16,
          true,
          16 * ResidualUnet::heads,
          16 + 464 + 148 + 372 + 556 + 296 + 292 + 1320 + 2040 + 8 + 37 * 3};
}

const std::vector<Case>& cases() {
  static const std::vector<Case> list = {
      {"mlp_elu_with_time",
       [](const Context& c, at::Generator& g) { return make_mlp(3, true, "elu", c, g); },
       [](const Plain& p, const Tensor& x, const Tensor& t) {
         return plain_stack(p, "layer", torch::cat({x, t}, 1), plain_elu);
       },
       3, true, 2, 5 * 12 + 2 * 13 * 12 + 13 * 2},
      {"mlp_silu_without_time",
       [](const Context& c, at::Generator& g) { return make_mlp(4, false, "silu", c, g); },
       [](const Plain& p, const Tensor& x, const Tensor&) {
         return plain_stack(p, "layer", x, plain_silu);
       },
       4, false, 2, 5 * 12 + 2 * 13 * 12 + 13 * 2},
      {"mlp_leaky_relu_without_time",
       [](const Context& c, at::Generator& g) { return make_mlp(2, false, "leaky-relu", c, g); },
       [](const Plain& p, const Tensor& x, const Tensor&) {
         return plain_stack(p, "layer", x, plain_leaky);
       },
       2, false, 2, 3 * 12 + 2 * 13 * 12 + 13 * 2},
      {"joint",
       [](const Context& c, at::Generator& g) -> std::unique_ptr<Network> {
         JointMlpOptions options;
         options.inputs = 3;
         options.width = 10;
         return std::make_unique<JointMlp>(options, c, g);
       },
       plain_joint, 3, true, 4, 5 * 10 + 11 * 20 + 4 * 11 * 10 + 11 * 1 + 11 * 3},
      {"parametric_gaussian",
       [](const Context& c, at::Generator&) -> std::unique_ptr<Network> {
         return std::make_unique<ParametricGaussian>(ParametricGaussianOptions{4}, c);
       },
       plain_gaussian, 4, true, 5, 16},
      {"parametric_gaussian_1d",
       [](const Context& c, at::Generator&) -> std::unique_ptr<Network> {
         return std::make_unique<ParametricGaussian1d>(ParametricGaussian1dOptions{0.3, 0.5}, c);
       },
       plain_gaussian_1d, 1, true, 2, 1},
      {"unet",
       [](const Context& c, at::Generator& g) -> std::unique_ptr<Network> {
         return std::make_unique<Unet>(small_unet(), c, g);
       },
       [](const Plain& p, const Tensor& x, const Tensor& t) { return plain_unet(p, x, t, 20, 4); },
       400, true, 2, 160 + 12312 + 176 + 13645 + 802},
      {"unet_with_data_score",
       [](const Context& c, at::Generator& g) -> std::unique_ptr<Network> {
         UnetOptions options = small_unet();
         options.data_score = true;
         return std::make_unique<Unet>(options, c, g);
       },
       [](const Plain& p, const Tensor& x, const Tensor& t) { return plain_unet(p, x, t, 20, 4); },
       400, true, 402, 160 + 12312 + 176 + 13645 + 802 + 73},
      {"unet_with_view",
       [](const Context& c, at::Generator& g) -> std::unique_ptr<Network> {
         return std::make_unique<Unet>(small_unet(), curved_map(), c, g);
       },
       [](const Plain& p, const Tensor& x, const Tensor& t) {
         return plain_unet(p, x, t, 20, 4, torch::tanh(0.5 * x + 0.25));
       },
       400, true, 2, 160 + 12312 + 176 + 13645 + 802 + 36},
      residual_unet_case(),
      {"gated_mlp",
       [](const Context& c, at::Generator& g) -> std::unique_ptr<Network> {
         GatedMlpOptions options;
         options.inputs = 3;
         options.outputs = 2;
         options.width = 6;
         options.gate_width = 5;
         return std::make_unique<GatedMlp>(options, c, g);
       },
       plain_gated, 3, true, 2, 2 * 5 + 6 * 5 + 6 * 14 + 4 * 6 + 7 * 6 + 7 * 2},
      {"quadratic",
       [](const Context& c, at::Generator&) -> std::unique_ptr<Network> {
         return std::make_unique<Quadratic>(QuadraticOptions{3, 2}, c);
       },
       [](const Plain& p, const Tensor& x, const Tensor&) {
         const Tensor forms = p.at("forms").view({2, 3, 3});
         return torch::einsum("ni,kij,nj->nk", {x, forms, x}) + p.at("bias");
       },
       3, false, 2, 2 * 9 + 2},
  };
  return list;
}

class Networks : public ::testing::TestWithParam<Case> {
 protected:
  static constexpr int64_t rows = 7;

  Tensor draw(torch::IntArrayRef shape) { return normal(shape, torch::kFloat64, generator_); }
  std::unique_ptr<Network> make() { return GetParam().make(context_, generator_); }
  Tensor points() { return draw({rows, GetParam().inputs}); }
  Tensor times() { return GetParam().time ? draw({rows, 1}).sigmoid() : Tensor(); }

  /// Away from the start, where parametric networks are special.
  std::unique_ptr<Network> make_moved() {
    auto network = make();
    const torch::NoGradGuard no_grad;
    for (auto [name, leaf] : network->parameters().named()) leaf.add_(0.3 * draw(leaf.sizes()));
    return network;
  }

  void compare_with_plain(Network& network, bool move_point, bool move_time);

 private:
  Context context_{torch::kCPU, torch::kFloat64, 3};
  at::Generator generator_ = context_.generator("networks");
};

void Networks::compare_with_plain(Network& network, bool move_point, bool move_time) {
  const Dual x{points().requires_grad_(), move_point ? points() : Tensor()};
  Dual t = times();
  if (t.defined()) t.value.requires_grad_();
  if (move_time) t.tangent = draw({rows, 1});
  Plain leaves;
  Tensors all = {x.value};
  for (const auto& [name, leaf] : network.parameters().named()) {
    leaves[name] = leaf;
    all.push_back(leaf);
  }
  if (t.defined()) all.push_back(t.value);
  const Tensor value = GetParam().plain(leaves, x.value, t.value);
  Tensors inputs, directions;
  for (const Dual& part : {x, t})
    if (part.has_tangent()) inputs.push_back(part.value), directions.push_back(part.tangent);
  const Dual theirs{value, inputs.empty() ? Tensor() : jvp(value, inputs, directions)};
  const Dual ours = network.forward(x, t);
  ASSERT_EQ(ours.value.size(1), network.outputs());
  ASSERT_EQ(ours.has_tangent(), theirs.has_tangent());
  EXPECT_LT(difference(ours.value, theirs.value), 1e-12);
  if (ours.has_tangent()) {
    EXPECT_LT(difference(ours.tangent, theirs.tangent), 1e-12);
  }
  const Tensors a = gradients(random_scalar(ours), all);
  const Tensors b = gradients(random_scalar(theirs), all);
  for (size_t i = 0; i < all.size(); ++i) EXPECT_LT(difference(a[i], b[i]), 1e-9) << "input " << i;
}

TEST_P(Networks, AgreeWithDoubleBackwardInEveryDirection) {
  const auto network = make_moved();
  for (const bool move_point : {false, true})
    for (const bool move_time : {false, true}) {
      if (move_time && !GetParam().time) continue;
      SCOPED_TRACE(text("point moves: ", move_point, ", time moves: ", move_time));
      compare_with_plain(*network, move_point, move_time);
    }
}

TEST_P(Networks, AgreeWithDoubleBackwardAtTheStart) {
  compare_with_plain(*make(), true, GetParam().time);
}

TEST_P(Networks, ValueAloneIsTheValueOfTheDual) {
  const auto network = make_moved();
  const Tensor x = points(), t = times();
  const Dual moved_time{t, t.defined() ? torch::ones_like(t) : Tensor()};
  EXPECT_LT(difference(network->forward(x, t).value, network->forward({x, x}, moved_time).value),
            1e-14);
}

TEST_P(Networks, FlattenKeepsEveryBit) {
  const auto network = make_moved();
  const Tensor x = points(), t = times();
  const auto run = [&] {
    const Dual out = network->forward({x, torch::ones_like(x)}, t);
    random_scalar(out).backward();
    return out;
  };
  const Dual before = run();
  Tensors gradients;
  for (auto [name, leaf] : network->parameters().named())
    gradients.push_back(leaf.grad().reshape(-1));
  network->parameters().flatten();
  const Dual after = run();
  EXPECT_TRUE(torch::equal(before.value, after.value));
  EXPECT_TRUE(torch::equal(before.tangent, after.tangent));
  EXPECT_TRUE(torch::equal(torch::cat(gradients), network->parameters().flat_gradient()));
}

TEST_P(Networks, StepsThroughTheFlatStorageReachTheOutput) {
  const auto network = make_moved();
  network->parameters().flatten();
  const Tensor x = points(), t = times();
  const Tensor before = network->forward(x, t).value;
  network->parameters().flat().add_(0.1);
  EXPECT_GT(difference(network->forward(x, t).value, before), 1e-3);
  network->parameters().flat().sub_(0.1);
  EXPECT_LT(difference(network->forward(x, t).value, before), 1e-12);
}

TEST_P(Networks, LoadBringsAnotherNetworkToTheSameOutput) {
  const auto network = make_moved(), other = make_moved();
  const Tensor x = points(), t = times();
  EXPECT_FALSE(torch::equal(network->forward(x, t).value, other->forward(x, t).value));
  other->parameters().load(network->parameters().named());
  EXPECT_TRUE(torch::equal(network->forward(x, t).value, other->forward(x, t).value));
}

TEST_P(Networks, AgreeAcrossDevices) {
  Context other{device_by_name("auto"), torch::kFloat64, 3};
  if (other.device.is_cpu()) GTEST_SKIP() << "this machine has one device only";
  const auto near = make_moved();
  auto generator = other.generator("networks");
  const auto far = GetParam().make(other, generator);
  far->parameters().load(near->parameters().named());
  const Tensor x = points(), v = points(), t = times();
  const auto run = [&](Network& network, const torch::Device& device) {
    network.parameters().flatten();
    const Dual out =
        network.forward({x.to(device), v.to(device)}, t.defined() ? t.to(device) : Tensor());
    random_scalar(out).backward();
    return out;
  };
  const Dual a = run(*near, torch::kCPU), b = run(*far, other.device);
  EXPECT_LT(difference(b.value.cpu(), a.value), 1e-12);
  EXPECT_LT(difference(b.tangent.cpu(), a.tangent), 1e-12);
  EXPECT_LT(difference(far->parameters().flat_gradient().cpu(), near->parameters().flat_gradient()),
            1e-10);
}

TEST_P(Networks, HaveTheExpectedSizes) {
  const auto network = make();
  EXPECT_EQ(network->outputs(), GetParam().outputs);
  EXPECT_EQ(network->parameters().count(), GetParam().count);
}

TEST_P(Networks, RefuseWrongShapes) {
  const auto network = make();
  const Tensor x = points(), t = times();
  EXPECT_THROW(network->forward(draw({rows, GetParam().inputs + 1}), t), Error);
  EXPECT_THROW(network->forward(draw({rows}), t), Error);
  EXPECT_THROW(network->forward(Dual(), t), Error);
  EXPECT_THROW(network->forward(x, t.defined() ? Tensor() : draw({rows, 1})), Error);
  EXPECT_THROW(network->forward(x, draw({rows, 2})), Error);
}

INSTANTIATE_TEST_SUITE_P(All, Networks, ::testing::ValuesIn(cases()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace dre
