#include "dre/dual/dense_stack.h"

#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>

#include "dre/base/context.h"
#include "dre/base/error.h"
#include "dre/base/threads.h"
#include "dre/dual/linear.h"
#include "tests/dual/jvp.h"

namespace dre {
namespace {

using testing::difference;
using testing::Tensors;

struct StackCase {
  std::string name;
  int64_t rows;
  std::vector<int64_t> widths;
};

/// One block and several, one that is not full, more rows than gradients are kept for; widths that
/// are no multiple of a pack; a stack of one layer.
const std::vector<StackCase> stack_cases = {{"one_row", 1, {3, 5, 2}},
                                            {"one_block", 100, {3, 16, 16, 1}},
                                            {"blocks", 300, {2, 7, 9, 4}},
                                            {"large", 3000, {2, 6, 1}},
                                            {"one_layer", 200, {4, 3}}};

Tensors random_parameters(const StackCase& item, torch::ScalarType dtype,
                          at::Generator& generator) {
  Tensors out;
  for (size_t i = 0; i + 1 < item.widths.size(); ++i) {
    out.push_back(normal({item.widths[i + 1], item.widths[i]}, dtype, generator) * 0.5);
    out.push_back(normal({item.widths[i + 1]}, dtype, generator));
  }
  for (Tensor& parameter : out) parameter.requires_grad_();
  return out;
}

/// The same by one rule after the other, each tested by itself.
Dual layer_by_layer(const Dual& x, const Tensors& parameters, const Activation& activation) {
  Dual out = x;
  for (size_t i = 0; i < parameters.size(); i += 2) {
    if (i > 0) out = activation.apply(out);
    out = linear(out, parameters[i], parameters[i + 1]);
  }
  return out;
}

class EveryStack : public ::testing::TestWithParam<std::tuple<StackCase, Activation>> {
 protected:
  void compare(bool tangent) {
    const auto& [item, activation] = GetParam();
    auto generator = Context{}.generator(item.name);
    Tensors inputs = random_parameters(item, torch::kFloat64, generator);
    const Tensors parameters = inputs;
    const auto draw = [&] {
      return normal({item.rows, item.widths[0]}, torch::kFloat64, generator).requires_grad_();
    };
    const Dual x(draw(), tangent ? draw() : Tensor());
    inputs.push_back(x.value);
    if (tangent) inputs.push_back(x.tangent);
    const Dual got = dense_stack(x, parameters, activation);
    const Dual want = layer_by_layer(x, parameters, activation);
    EXPECT_LT(difference(got.value, want.value), 1e-13);
    ASSERT_EQ(got.has_tangent(), tangent);
    if (tangent) {
      EXPECT_LT(difference(got.tangent, want.tangent), 1e-13);
    }
    const Tensors ours = testing::gradients(testing::random_scalar(got), inputs);
    const Tensors theirs = testing::gradients(testing::random_scalar(want), inputs);
    for (size_t i = 0; i < inputs.size(); ++i)
      EXPECT_LT(difference(ours[i], theirs[i]), 1e-12) << "gradient " << i;
  }
};

TEST_P(EveryStack, EqualsItsLayersInTurn) { compare(false); }

TEST_P(EveryStack, EqualsItsLayersInTurnWithATangent) { compare(true); }

TEST_P(EveryStack, SaysTheSameWithoutGradients) {
  const auto& [item, activation] = GetParam();
  auto generator = Context{}.generator("no gradients");
  const Tensors parameters = random_parameters(item, torch::kFloat32, generator);
  const Tensor x = normal({item.rows, item.widths[0]}, torch::kFloat32, generator);
  const Dual with = dense_stack({x, x.flip(0)}, parameters, activation);
  torch::NoGradGuard no_grad;
  const Dual without = dense_stack({x, x.flip(0)}, parameters, activation);
  EXPECT_FALSE(without.value.requires_grad());
  EXPECT_LT(difference(without.value, with.value), 1e-5);
  EXPECT_LT(difference(without.tangent, with.tangent), 1e-5);
}

std::string case_name(const ::testing::TestParamInfo<EveryStack::ParamType>& info) {
  std::string name = std::get<0>(info.param).name + "_" + std::get<1>(info.param).name;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(DenseStack, EveryStack,
                         ::testing::Combine(::testing::ValuesIn(stack_cases),
                                            ::testing::ValuesIn(activations())),
                         case_name);

/// The gradient of a float32 step, as bytes, by a given number of threads.
Tensor step_gradient(int threads) {
  const int before = at::get_num_threads();
  use_threads(threads);  // also stops OpenBLAS's own, so that blocks really run side by side
  auto generator = Context{}.generator("threads");
  const Tensors parameters = random_parameters(stack_cases[2], torch::kFloat32, generator);
  const Tensor x = normal({300, 2}, torch::kFloat32, generator);
  const Dual y = dense_stack({x, x}, parameters, activations()[0]);
  Tensors gradients = testing::gradients(testing::random_scalar(y), parameters);
  at::set_num_threads(before);
  for (Tensor& gradient : gradients) gradient = gradient.flatten();
  return torch::cat(gradients);
}

TEST(DenseStack, BytesDoNotDependOnTheNumberOfThreads) {
  const Tensor one = step_gradient(1);
  ASSERT_FALSE(products_have_threads());
  for (const int threads : {2, 3, 4}) EXPECT_TRUE(torch::equal(step_gradient(threads), one));
}

TEST(DenseStack, RefusesWhatDoesNotFit) {
  auto generator = Context{}.generator("refuse");
  const Tensors parameters = random_parameters(stack_cases[0], torch::kFloat32, generator);
  const Activation& activation = activations()[0];
  EXPECT_THROW(dense_stack(torch::ones({2, 4}), parameters, activation), Error);
  EXPECT_THROW(dense_stack({torch::ones({2, 3}), torch::ones({1, 3})}, parameters, activation),
               Error);
  EXPECT_THROW(dense_stack(torch::ones({2, 3}), {parameters[0]}, activation), Error);
}

TEST(DenseStack, SecondDerivativesAreRefused) {
  auto generator = Context{}.generator("second");
  const Tensors parameters = random_parameters(stack_cases[0], torch::kFloat64, generator);
  const Tensor x = torch::ones({2, 3}, torch::kFloat64).requires_grad_();
  const Tensor y = dense_stack(x, parameters, activations()[0]).value.sum();
  EXPECT_THROW(torch::autograd::grad({y}, {x}, {}, true, true), Error);
}

TEST(DenseStack, TakesNoRows) {
  auto generator = Context{}.generator("empty");
  const Tensors parameters = random_parameters(stack_cases[0], torch::kFloat32, generator);
  EXPECT_EQ(dense_stack(torch::ones({0, 3}), parameters, activations()[0]).value.sizes(),
            (std::vector<int64_t>{0, 2}));
}

}  // namespace
}  // namespace dre
