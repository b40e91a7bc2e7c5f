#include "dre/numeric/measured.h"

#include <gtest/gtest.h>

#include <cmath>

namespace dre {
namespace {

TEST(Measured, MeansHaveTheErrorOfIndependentNumbers) {
  const Measured found = mean_of(torch::tensor({1.f, 2.f, 3.f, 6.f}));
  EXPECT_DOUBLE_EQ(found.value, 3);
  EXPECT_NEAR(found.standard_error, std::sqrt((4 + 1 + 0 + 9) / 3. / 4), 1e-12);
  EXPECT_EQ(to_json(found)["value"], 3);
  EXPECT_EQ(to_json(found)["standard_error"], found.standard_error);
}

}  // namespace
}  // namespace dre
