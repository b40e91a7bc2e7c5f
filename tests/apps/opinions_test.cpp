#include "dre/apps/opinions.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/apps/numeric_sides.h"

namespace dre::testing {
namespace {

TEST(Opinions, TheShareOfWhatWasLearnedIsThatOfTheLeastLoss) {
  // Log r of N(m, 2m) against N(-m, 2m) is x. The reference knows nothing, or twice too much; what
  // was learned goes as far beyond the truth, or is noise.
  auto generator = stream("share");
  const double m = 0.4;
  const int64_t n = 20000;
  const auto draw = [&](double mean) {
    return mean + std::sqrt(2 * std::abs(mean)) * normal({n}, torch::kFloat64, generator);
  };
  const Tensor x0 = draw(m), x1 = draw(-m), far0 = draw(30), far1 = draw(-30);
  const auto share = [&](double reference, double learned) {
    return learned_share({reference * x0, learned * x0}, {}, {reference * x1, learned * x1}, {},
                         0.3);
  };
  EXPECT_NEAR(share(0, 2), 0.5, 0.03);
  EXPECT_NEAR(share(0.5, 2.5), 0.25, 0.03);
  EXPECT_EQ(share(0, 0.5), 1);
  EXPECT_EQ(share(1.5, 2), 0);
  // Far apart the loss says nothing, and the fits' own decision stands.
  EXPECT_EQ(learned_share({far0, 2 * far0}, {}, {far1, 2 * far1}, {}, 0.3), 0.3);
}

/// One row that refutes what was learned would decide the share alone, and all else that was
/// learned is right.
TEST(Opinions, RefutedRowsDoNotDecideTheShare) {
  auto generator = stream("believed share");
  const Tensor x0 = 0.5 + normal({2000}, torch::kFloat64, generator);
  const Tensor x1 = -0.5 + normal({2000}, torch::kFloat64, generator);
  Opinions top{0 * x0, x0}, bottom{0 * x1, x1};
  top.learned[0] = -1e5;
  EXPECT_LT(learned_share(top, {}, bottom, {}, 0.3), 0.1);
  const TwoScores mixed = best_mix(top, {}, bottom, {}, 0.3);
  EXPECT_TRUE(torch::allclose(mixed.f1, x1, 0.1, 0.1));
  EXPECT_GT(mixed.f0[0].item<double>(), -10);
}

}  // namespace
}  // namespace dre::testing
