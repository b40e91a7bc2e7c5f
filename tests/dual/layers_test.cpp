#include "dre/dual/layers.h"

#include <gtest/gtest.h>

#include "dre/base/context.h"
#include "dre/base/error.h"
#include "tests/dual/jvp.h"

namespace dre {
namespace {

using testing::difference;
using testing::Tensors;

/// One rule: our function of duals, LibTorch's function of tensors, and the shapes of the first
/// (active) input and of the parameters that follow.
struct Rule {
  std::string name;
  std::function<Dual(const Dual&, const Tensors&)> ours;
  std::function<Tensor(const Tensor&, const Tensors&)> torchs;
  std::vector<int64_t> input;
  std::vector<std::vector<int64_t>> parameters;
};

void PrintTo(const Rule& rule, std::ostream* out) { *out << rule.name; }

Rule element_wise(const std::string& name, Dual (*ours)(const Dual&),
                  Tensor (*torchs)(const Tensor&)) {
  return {name,
          [=](const Dual& x, const Tensors&) { return ours(x); },
          [=](const Tensor& x, const Tensors&) { return torchs(x); },
          {5, 7},
          {}};
}

/// LibTorch 1.13 differentiates softplus and elu with thresholds or not twice: written out instead.
Tensor plain_elu(const Tensor& x) { return torch::where(x > 0, x, torch::expm1(x.clamp_max(0))); }
Tensor plain_softplus(const Tensor& x) {
  return x.clamp_min(0) + torch::log1p(torch::exp(-x.abs()));
}
Tensor plain_silu(const Tensor& x) { return x * torch::sigmoid(x); }
Tensor plain_tanh(const Tensor& x) { return torch::tanh(x); }
Tensor plain_square(const Tensor& x) { return x * x; }
Tensor plain_reciprocal(const Tensor& x) { return x.pow(-1); }

Dual channels_last(const Dual& x) {
  const auto packed = [](const Tensor& a) {
    return a.defined() ? a.contiguous(at::MemoryFormat::ChannelsLast) : a;
  };
  return {packed(x.value), packed(x.tangent)};
}

const std::vector<Rule>& rules() {
  static const std::vector<Rule> list = {
      element_wise("elu", elu, plain_elu),
      element_wise("tanh", tanh, plain_tanh),
      element_wise("silu", silu, plain_silu),
      element_wise("softplus", softplus, plain_softplus),
      element_wise(
          "square", [](const Dual& x) { return square(x); }, plain_square),
      element_wise(
          "reciprocal", [](const Dual& x) { return reciprocal(x); }, plain_reciprocal),
      element_wise("leaky_relu", leaky_relu,
                   [](const Tensor& x) { return torch::where(x > 0, x, 0.3 * x); }),
      {"linear",
       [](const Dual& x, const Tensors& p) { return linear(x, p[0], p[1]); },
       [](const Tensor& x, const Tensors& p) { return torch::mm(x, p[0].t()) + p[1]; },
       {6, 3},
       {{4, 3}, {4}}},
      {"linear_without_bias",
       [](const Dual& x, const Tensors& p) { return linear(x, p[0], {}); },
       [](const Tensor& x, const Tensors& p) { return torch::mm(x, p[0].t()); },
       {6, 3},
       {{4, 3}}},
      {"group_norm",
       [](const Dual& x, const Tensors& p) { return group_norm(x, 2, p[0], p[1], 1e-3); },
       [](const Tensor& x, const Tensors& p) {
         const Tensor rows = x.reshape({x.size(0), 2, -1});
         const Tensor centred = rows - rows.mean({-1}, true);
         const Tensor unit = centred / ((centred * centred).mean({-1}, true) + 1e-3).sqrt();
         return unit.reshape(x.sizes()) * p[0].view({-1, 1, 1}) + p[1].view({-1, 1, 1});
       },
       {3, 4, 3, 2},
       {{4}, {4}}},
      {"conv2d",
       [](const Dual& x, const Tensors& p) {
         return conv2d(x, p[0], p[1], {2, 1});
       },
       [](const Tensor& x, const Tensors& p) { return torch::conv2d(x, p[0], p[1], 2, 1); },
       {2, 3, 7, 6},
       {{4, 3, 3, 3}, {4}}},
      {"conv_transpose2d",
       [](const Dual& x, const Tensors& p) {
         return conv_transpose2d(x, p[0], p[1], {2, 1, 1});
       },
       [](const Tensor& x, const Tensors& p) {
         return torch::conv_transpose2d(x, p[0], p[1], 2, 1, 1);
       },
       {2, 3, 4, 5},
       {{3, 2, 3, 3}, {2}}},
      // The first takes value and tangent apart, the second as the halves of one storage.
      {"convolutions_in_a_row",
       [](const Dual& x, const Tensors& p) {
         return conv_transpose2d(conv2d(x, p[0], {}, {}), p[1], p[2], {2});
       },
       [](const Tensor& x, const Tensors& p) {
         return torch::conv_transpose2d(torch::conv2d(x, p[0]), p[1], p[2], 2);
       },
       {2, 3, 5, 4},
       {{4, 3, 3, 3}, {4, 2, 2, 2}, {2}}},
      {"convolutions_channels_last",
       [](const Dual& x, const Tensors& p) {
         const Dual in = channels_last(x);
         return conv2d(silu(conv2d(in, p[0], {}, {})), p[1], {}, {});
       },
       [](const Tensor& x, const Tensors& p) {
         return torch::conv2d(plain_silu(torch::conv2d(x, p[0])), p[1]);
       },
       {2, 3, 6, 5},
       {{4, 3, 3, 3}, {2, 4, 2, 2}}},
      // What lies in one storage lies channels last, too.
      {"cat_channels_last",
       [](const Dual& x, const Tensors& p) {
         const Dual in = channels_last(x);
         return conv2d(cat_channels(in, in), p[0], {}, {});
       },
       [](const Tensor& x, const Tensors& p) {
         return torch::conv2d(torch::cat({x, x}, 1), p[0]);
       },
       {2, 3, 6, 5},
       {{4, 6, 3, 3}}},
      {"cat_channels",
       [](const Dual& x, const Tensors& p) {
         const Dual more = conv2d(x, p[0], p[1], {1, 1});
         return conv2d(cat_channels(cat_channels(x, more), more), p[2], {}, {});
       },
       [](const Tensor& x, const Tensors& p) {
         const Tensor more = torch::conv2d(x, p[0], p[1], 1, 1);
         return torch::conv2d(torch::cat({x, more, more}, 1), p[2]);
       },
       {2, 3, 4, 5},
       {{4, 3, 3, 3}, {4}, {2, 11, 3, 3}}},
      {"image_products",
       [](const Dual& x, const Tensors& p) { return image_products(x, p[0]); },
       [](const Tensor& x, const Tensors& p) {
         return (x.unsqueeze(1) * p[0]).sum({2, 3, 4});
       },
       {3, 2, 4, 5},
       {{4, 2, 4, 5}}},
      {"arithmetic",
       [](const Dual& x, const Tensors& p) {
         const auto parts = split(x, {2, 3});
         const Dual mixed = cat({parts[1] * p[0], -parts[0]}, 1) + 1.5;
         return 2.0 * sum(mixed * mixed - x * x, 1, true) * x;
       },
       [](const Tensor& x, const Tensors& p) {
         const Tensor mixed = torch::cat({x.narrow(1, 2, 3) * p[0], -x.narrow(1, 0, 2)}, 1) + 1.5;
         return 2.0 * (mixed * mixed - x * x).sum(1, true) * x;
       },
       {4, 5},
       {{3}}},
      {"constant_and_dual",
       [](const Dual& x, const Tensors& p) {
         return cat({p[0] - x, Dual(p[0]) * p[0], x + p[1], detach(Dual(p[1])) * x}, 0);
       },
       [](const Tensor& x, const Tensors& p) {
         return torch::cat({p[0] - x, p[0] * p[0], x + p[1], p[1].detach() * x}, 0);
       },
       {3},
       {{4, 3}, {4, 3}}},
  };
  return list;
}

class Layers : public ::testing::TestWithParam<Rule> {
 protected:
  Tensor draw(const std::vector<int64_t>& shape) {
    return normal(shape, torch::kFloat64, generator_);
  }

  Tensors parameters() {
    Tensors out;
    for (const auto& shape : GetParam().parameters) out.push_back(draw(shape).requires_grad_());
    return out;
  }

 private:
  at::Generator generator_ = Context{}.generator("layers");
};

TEST_P(Layers, AgreeWithDoubleBackward) {
  const Rule& rule = GetParam();
  const Tensor x = draw(rule.input).requires_grad_(), v = draw(rule.input).requires_grad_();
  Tensors all = parameters();
  const Dual ours = rule.ours({x, v}, all);
  const Tensor value = rule.torchs(x, all);
  const Dual theirs = {value, testing::jvp(value, {x}, {v})};
  EXPECT_LT(difference(ours.value, theirs.value), 1e-12);
  EXPECT_LT(difference(ours.tangent, theirs.tangent), 1e-12);
  all.insert(all.end(), {x, v});
  const Tensors a = testing::gradients(testing::random_scalar(ours), all);
  const Tensors b = testing::gradients(testing::random_scalar(theirs), all);
  for (size_t i = 0; i < all.size(); ++i) EXPECT_LT(difference(a[i], b[i]), 1e-9) << "input " << i;
}

TEST_P(Layers, DoValueOnlyWorkWithoutTangent) {
  const Rule& rule = GetParam();
  const Tensor x = draw(rule.input).requires_grad_();
  Tensors all = parameters();
  const Dual ours = rule.ours(x, all);
  EXPECT_FALSE(ours.has_tangent());
  const Tensor theirs = rule.torchs(x, all);
  EXPECT_LT(difference(ours.value, theirs), 1e-12);
  all.push_back(x);
  const Tensors a = testing::gradients(testing::random_scalar(ours), all);
  const Tensors b = testing::gradients(testing::random_scalar(theirs), all);
  for (size_t i = 0; i < all.size(); ++i) EXPECT_LT(difference(a[i], b[i]), 1e-9) << "input " << i;
}

TEST_P(Layers, TakeStridedInput) {
  const Rule& rule = GetParam();
  const Tensor x = draw(rule.input), v = draw(rule.input);
  const auto strided = [](const Tensor& a) {
    return a.transpose(0, -1).contiguous().transpose(0, -1);
  };
  const Tensors all = parameters();
  const Dual a = rule.ours({x, v}, all), b = rule.ours({strided(x), strided(v)}, all);
  EXPECT_LT(difference(a.value, b.value), 1e-14);
  EXPECT_LT(difference(a.tangent, b.tangent), 1e-14);
}

TEST_P(Layers, AgreeAcrossDevices) {
  const torch::Device device = device_by_name("auto");
  if (device.is_cpu()) GTEST_SKIP() << "this machine has one device only";
  const Rule& rule = GetParam();
  Tensors near = parameters();
  const Tensor x = draw(rule.input), v = draw(rule.input);
  near.insert(near.end(), {x.requires_grad_(), v.requires_grad_()});
  Tensors far;
  for (const Tensor& a : near) far.push_back(a.detach().to(device).requires_grad_());
  const auto run = [&](const Tensors& all) {
    return rule.ours({all[all.size() - 2], all.back()}, Tensors(all.begin(), all.end() - 2));
  };
  const Dual a = run(near), b = run(far);
  EXPECT_LT(difference(b.value.cpu(), a.value), 1e-12);
  EXPECT_LT(difference(b.tangent.cpu(), a.tangent), 1e-12);
  const Tensors ga = testing::gradients(testing::random_scalar(a), near);
  const Tensors gb = testing::gradients(testing::random_scalar(b), far);
  for (size_t i = 0; i < ga.size(); ++i) EXPECT_LT(difference(gb[i].cpu(), ga[i]), 1e-11);
}

INSTANTIATE_TEST_SUITE_P(AllRules, Layers, ::testing::ValuesIn(rules()),
                         [](const auto& info) { return info.param.name; });

TEST(Dual, WrongShapesAreRefused) {
  const Tensor x = torch::zeros({2, 3});
  EXPECT_THROW(linear(Dual(x), torch::zeros({4, 2}), Tensor()), Error);
  EXPECT_THROW(elu({x, torch::zeros({3})}), Error);
  EXPECT_THROW(split(Dual(x), {1, 1}), Error);
  EXPECT_THROW(cat({}, 0), Error);
}

}  // namespace
}  // namespace dre
