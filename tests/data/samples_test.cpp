#include "dre/data/samples.h"

#include <gtest/gtest.h>

#include <limits>

#include "dre/base/error.h"

namespace dre {
namespace {

Tensor table(int64_t rows) { return torch::arange(rows, torch::kFloat64).unsqueeze(1); }

std::string samples_message(const Tensor& x, const Tensor& weight) {
  try {
    make_samples(x, weight, "numerator");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Samples, WeightsOfAnyScaleGetMeanOne) {
  for (const double scale : {1e-200, 1.0, 1e200}) {
    const Tensor weight = torch::tensor({1.0, 2.0, 0.0, 5.0}, torch::kFloat64) * scale;
    const Samples samples = make_samples(table(4), weight);
    EXPECT_NEAR(samples.weight.mean().item<double>(), 1, 1e-15);
    EXPECT_NEAR(samples.weight[3].item<double>(), 2.5, 1e-14);
    EXPECT_NEAR(effective_size(samples), 64.0 / 30.0, 1e-13);
  }
}

TEST(Samples, EqualWeightsAreNoWeights) {
  const Samples samples = make_samples(table(3), torch::full({3}, 7.0));
  EXPECT_FALSE(samples.weight.defined());
  EXPECT_TRUE(torch::equal(samples.weights(), torch::ones({3}, torch::kFloat64)));
  EXPECT_EQ(effective_size(samples), 3);
}

TEST(Samples, PrecisionIsThatOfTheRowsAlone) {
  const Samples samples = make_samples(table(3), torch::tensor({1.0, 2.0, 4.0}));
  const Samples single = samples.to({torch::kCPU, torch::kFloat32, 0});
  EXPECT_EQ(single.x.scalar_type(), torch::kFloat32);
  EXPECT_TRUE(torch::equal(single.x, samples.x.to(torch::kFloat32)));
  EXPECT_EQ(single.weight.scalar_type(), torch::kFloat64);
  EXPECT_TRUE(torch::equal(single.weight, samples.weight));
  EXPECT_FALSE(make_samples(table(3)).to(Context{}).weight.defined());
}

TEST(Samples, WhatCannotBeUsedIsRefused) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto weight = [](std::vector<double> w) { return torch::tensor(w, torch::kFloat64); };
  EXPECT_NE(samples_message(table(2), weight({1, -2})).find("numerator has negative weights"),
            std::string::npos);
  EXPECT_NE(samples_message(table(2), weight({0, 0})).find("only zero weights"), std::string::npos);
  EXPECT_NE(samples_message(table(2), weight({1, nan})).find("not finite"), std::string::npos);
  EXPECT_NE(samples_message(table(2), weight({1, 2, 3})).find("one weight a row"),
            std::string::npos);
  EXPECT_NE(samples_message(table(0), {}).find("no rows"), std::string::npos);
  EXPECT_NE(samples_message(table(2) * nan, {}).find("not finite"), std::string::npos);
  EXPECT_NE(samples_message(table(2) * 1e200, {}).find("1e150"), std::string::npos);
}

TEST(Samples, PositiveLeavesOutRowsWithoutWeight) {
  const Samples samples = make_samples(table(3), torch::tensor({1.0, 0.0, 3.0}));
  const Samples kept = samples.positive();
  EXPECT_TRUE(torch::equal(kept.x, torch::tensor({{0.0}, {2.0}}, torch::kFloat64)));
  EXPECT_NEAR(kept.weight[1].item<double>(), 1.5, 1e-15);
}

}  // namespace
}  // namespace dre
