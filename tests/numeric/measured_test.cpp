#include "dre/numeric/measured.h"

#include <gtest/gtest.h>

#include <cmath>

namespace dre {
namespace {

TEST(Measured, IsShrunkToZeroInsideTwoStandardErrors) {
  for (const double value : {0.0, 0.5, -1.0, 1.99}) {
    const Measured noisy{value, 1};
    EXPECT_EQ(noisy.shrunk(), 0) << value;
  }
}

TEST(Measured, ShrinksLessTheSurerItIsAndNeverOvershoots) {
  double before = 0;
  for (const double error : {0.6, 0.5, 0.3, 0.1, 0.01, 0.0}) {
    const double shrunk = Measured{1.2, error}.shrunk();
    EXPECT_GE(shrunk, before) << error;
    EXPECT_LE(shrunk, 1.2) << error;
    EXPECT_EQ((Measured{-1.2, error}.shrunk()), -shrunk) << error;
    before = shrunk;
  }
  EXPECT_EQ(before, 1.2);  // no noise, no shrinkage
  EXPECT_NEAR((Measured{1.2, 0.6001}.shrunk()), 0, 1e-3);
  EXPECT_NEAR((Measured{1.2, 0.5999}.shrunk()), 0, 1e-3);  // continuous at the threshold
  EXPECT_EQ((Measured{0, 0}.shrunk()), 0);
}

TEST(Measured, MeansHaveTheErrorOfIndependentNumbers) {
  const Measured found = mean_of(torch::tensor({1.f, 2.f, 3.f, 6.f}));
  EXPECT_DOUBLE_EQ(found.value, 3);
  EXPECT_NEAR(found.standard_error, std::sqrt((4 + 1 + 0 + 9) / 3. / 4), 1e-12);
  EXPECT_EQ(to_json(found)["value"], 3);
  EXPECT_EQ(to_json(found)["standard_error"], found.standard_error);
  const Measured one = mean_of(torch::tensor({2.f}));
  EXPECT_EQ(one.value, 2);
  EXPECT_TRUE(std::isnan(one.standard_error));
}

}  // namespace
}  // namespace dre
