#include "dre/data/planes.h"

#include <gtest/gtest.h>

#include "dre/base/context.h"

namespace dre {
namespace {

/// x, y and their sum, to so many decimals; the first `breaking` rows have another third column.
Tensor with_sum(int64_t rows, int64_t breaking, double decimals, at::Generator& generator) {
  Tensor x = normal({rows, 3}, torch::kFloat64, generator);
  x.slice(0, breaking).select(1, 2) = x.slice(0, breaking).slice(1, 0, 2).sum(1);
  return (x * decimals).round() / decimals;
}

TEST(Planes, RowsThatBreakARuleAreFound) {
  auto generator = Context{torch::kCPU, torch::kFloat64, 1}.generator("planes");
  for (const double decimals : {1e5, 1e9, 1e14}) {
    const Tensor others = with_sum(1000, 0, decimals, generator);
    const Tensor x = with_sum(1000, 40, decimals, generator);
    const Tensor off = off_planes(x, others);
    ASSERT_EQ(off.size(1), 1);
    EXPECT_GE(off.slice(0, 0, 40).sum().item<int64_t>(), 39);
    EXPECT_EQ(off.slice(0, 40).sum().item<int64_t>(), 0);
    // Nor do larger ones, with larger rounding.
    EXPECT_EQ(off_planes(5 * x.slice(0, 40), others).sum().item<int64_t>(), 0);
    EXPECT_EQ(off_planes(others, x).size(1), 0);
  }
}

TEST(Planes, NoneWhereColumnsVaryByThemselves) {
  auto generator = Context{torch::kCPU, torch::kFloat64, 2}.generator("planes");
  const Tensor x = normal({100, 4}, torch::kFloat64, generator);
  EXPECT_EQ(off_planes(x, normal({12, 4}, torch::kFloat64, generator)).size(1), 0);
  EXPECT_EQ(off_planes(x, normal({4, 4}, torch::kFloat64, generator)).size(1), 0);
  // A constant column is no rule of this kind, and units do not matter.
  Tensor others = x * torch::tensor({1.0, 1e-6, 1e6, 0.0}, torch::kFloat64);
  EXPECT_EQ(off_planes(x, others).size(1), 0);
  EXPECT_EQ(off_planes(x.slice(1, 0, 1), x.slice(1, 0, 1)).size(1), 0);
}

}  // namespace
}  // namespace dre
