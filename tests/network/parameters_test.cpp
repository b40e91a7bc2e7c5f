#include "dre/network/parameters.h"

#include <gtest/gtest.h>

#include "dre/base/error.h"

namespace dre {
namespace {

void fill(Parameters& parameters) {
  parameters.add("matrix", torch::arange(6, torch::kFloat64).view({2, 3}));
  parameters.add("scalar", torch::full({}, 7.0, torch::kFloat64));
  parameters.add("vector", torch::arange(8, 10, torch::kFloat64));
}

Tensor loss(const Parameters& parameters) {
  Tensor out = torch::zeros({}, torch::kFloat64);
  for (const auto& [name, leaf] : parameters.named()) out = out + (leaf * leaf).sum();
  return out;
}

TEST(Parameters, FlattenMovesLeavesIntoOneStorage) {
  Parameters parameters;
  fill(parameters);
  const Tensor handle = parameters.named()[2].second;
  parameters.flatten();
  EXPECT_EQ(parameters.count(), 9);
  EXPECT_TRUE(torch::equal(parameters.flat(),
                           torch::tensor({0., 1., 2., 3., 4., 5., 7., 8., 9.}, torch::kFloat64)));
  parameters.flat().mul_(2);
  EXPECT_EQ(handle[1].item<double>(), 18);
  EXPECT_TRUE(handle.is_leaf() && handle.requires_grad());
}

TEST(Parameters, FlattenTwiceChangesNothing) {
  Parameters parameters;
  fill(parameters);
  parameters.flatten();
  const void* data = parameters.flat().data_ptr();
  loss(parameters).backward();
  const Tensor gradient = parameters.flat_gradient().clone();
  parameters.flatten();
  EXPECT_EQ(parameters.flat().data_ptr(), data);
  EXPECT_TRUE(torch::equal(parameters.flat_gradient(), gradient));
}

TEST(Parameters, BackwardAccumulatesIntoTheFlatGradient) {
  Parameters parameters;
  fill(parameters);
  parameters.flatten();
  const void* data = parameters.flat_gradient().data_ptr();
  loss(parameters).backward();
  EXPECT_TRUE(torch::equal(parameters.flat_gradient(), 2 * parameters.flat()));
  loss(parameters).backward();
  EXPECT_TRUE(torch::equal(parameters.flat_gradient(), 4 * parameters.flat()));
  EXPECT_EQ(parameters.flat_gradient().data_ptr(), data);
  EXPECT_EQ(parameters.named()[0].second.grad().data_ptr(), data);
  parameters.zero_gradient();
  EXPECT_EQ(parameters.named()[2].second.grad().abs().sum().item<double>(), 0);
}

TEST(Parameters, MisuseIsRefused) {
  Parameters parameters;
  EXPECT_THROW(parameters.flatten(), Error);
  fill(parameters);
  EXPECT_THROW(parameters.flat(), Error);
  EXPECT_THROW(parameters.flat_gradient(), Error);
  EXPECT_THROW(parameters.add("scalar", torch::zeros({1}, torch::kFloat64)), Error);
  EXPECT_THROW(parameters.add("other", torch::zeros({1}, torch::kFloat32)), Error);
  parameters.flatten();
  EXPECT_THROW(parameters.add("other", torch::zeros({1}, torch::kFloat64)), Error);
}

std::string load_message(const NamedTensors& values) {
  Parameters parameters;
  fill(parameters);
  const Tensor before = loss(parameters);
  try {
    parameters.load(values);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), Error::Kind::data);
    EXPECT_TRUE(torch::equal(before, loss(parameters))) << "a refused load changed something";
    return error.what();
  }
  return "";
}

TEST(Parameters, LoadWantsTheSameNamesAndShapes) {
  NamedTensors values = {
      {"vector", torch::ones({2})}, {"matrix", torch::ones({2, 3})}, {"scalar", torch::ones({})}};
  EXPECT_EQ(load_message(values), "");
  values[0].second = torch::ones({3});
  EXPECT_EQ(load_message(values), "parameter 'vector' has shape [2], but the value given has [3]");
  values.erase(values.begin());
  EXPECT_EQ(load_message(values), "there is no value for parameter 'vector'");
  values.emplace_back("bias", torch::ones({2}));
  EXPECT_EQ(load_message(values),
            "the network has no parameter 'bias'; the values belong to another network");
}

}  // namespace
}  // namespace dre
