#include "dre/base/numbers.h"

#include <gtest/gtest.h>

namespace dre {
namespace {

using List = std::vector<double>;

TEST(NumbersOf, GoesRowByRowWhateverTheLayoutAndType) {
  const torch::Tensor x = torch::arange(6, torch::kInt32).view({2, 3});
  EXPECT_EQ(numbers_of(x), (List{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(numbers_of(x.t()), (List{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(numbers_of(x.select(1, 1)), (List{1, 4}));
  EXPECT_EQ(numbers_of(torch::full({}, 0.5, torch::kFloat32).requires_grad_()), List{0.5});
  EXPECT_EQ(numbers_of(torch::empty({0, 3})), List{});
}

}  // namespace
}  // namespace dre
