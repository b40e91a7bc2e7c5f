#include "dre/base/numbers.h"

#include <gtest/gtest.h>

#include <locale>

#include "dre/base/error.h"

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

/// Names and messages are the same wherever a program is run.
TEST(Text, IsWrittenAlikeInEveryLocale) {
  class Grouped final : public std::numpunct<char> {
    char do_decimal_point() const override { return ','; }
    char do_thousands_sep() const override { return '.'; }
    std::string do_grouping() const override { return "\3"; }
  };
  const std::locale before = std::locale::global(std::locale(std::locale(), new Grouped));
  const std::string written = text("x", 1000, " ", 0.5);
  std::locale::global(before);
  EXPECT_EQ(written, "x1000 0.5");
}

}  // namespace
}  // namespace dre
