#include "dre/data/one_sided.h"

#include <gtest/gtest.h>

#include <random>

#include "dre/base/error.h"

namespace dre::testing {
namespace {

/// Levels with probabilities like 1/k, as of cities; the denominator's have `prefix` before them
/// with probability `own`.
LevelCounts zipf(int numerator, int denominator, int levels, double own, std::mt19937& generator) {
  std::vector<double> weight;
  for (int k = 1; k <= levels; ++k) weight.push_back(1.0 / k);
  std::discrete_distribution<int> level(weight.begin(), weight.end());
  std::bernoulli_distribution renamed(own);
  LevelCounts counts;
  for (int i = 0; i < numerator; ++i) ++counts[text(level(generator))].numerator;
  for (int i = 0; i < denominator; ++i)
    ++counts[text(renamed(generator) ? "den" : "", level(generator))].denominator;
  return counts;
}

/// Two of ten thousand columns are allowed; 2 of 400 would come in one of three hundred runs.
TEST(OneSided, RareLevelsOfOneDistributionAreNotFound) {
  std::mt19937 generator(1);
  int found = 0;
  for (int i = 0; i < 400; ++i) {
    const int levels = i % 4 == 0 ? 20 : i % 4 == 1 ? 300 : i % 4 == 2 ? 3000 : 100'000;
    const auto counts = zipf(i % 3 == 0 ? 200 : 1000, i % 5 == 0 ? 60 : 1000, levels, 0, generator);
    const OneSidedLevels one = find_one_sided("c", counts, {"0", "1", "2"});
    found += one.numerator + one.denominator > 0;
  }
  EXPECT_LT(found, 2);
}

/// Of the rows whose levels are renamed on one side, those without a counterpart there are told,
/// and never more than there are.
TEST(OneSided, SharesOfRowsWithLevelsOfTheirOwnAreBoundedFromBelow) {
  std::mt19937 generator(2);
  for (const double own : {0.3, 0.6, 1.0}) {
    const auto counts = zipf(3000, 3000, 300, own, generator);
    const OneSidedLevels found = find_one_sided("c", counts, {});
    EXPECT_GT(found.denominator / 3000, own * 0.8) << own;
    EXPECT_LT(found.denominator / 3000, own + 0.05) << own;
    EXPECT_FALSE(found.names.empty());
  }
}

/// The same levels three times as often on one side or the other: more are one-sided than by
/// chance, but most are not.
TEST(OneSided, RarerLevelsAreNotMissingOnes) {
  std::mt19937 generator(3);
  std::bernoulli_distribution mostly(0.75);
  LevelCounts uneven, disjoint;
  for (int i = 0; i < 600; ++i)
    for (int k = 0; k < 4; ++k) {
      ++(mostly(generator) == (i % 2 == 0) ? uneven[text(i)].numerator
                                           : uneven[text(i)].denominator);
      ++(i % 2 == 0 ? disjoint[text(i)].numerator : disjoint[text(i)].denominator);
    }
  EXPECT_GT(find_one_sided("c", uneven, {}).numerator, 0);
  EXPECT_FALSE(find_one_sided("c", uneven, {}).nothing_shared);
  EXPECT_TRUE(find_one_sided("c", disjoint, {}).nothing_shared);
}

TEST(OneSided, LevelsWithAColumnAreNamedAndNotCounted) {
  const LevelCounts counts = {{"a", {100, 90}}, {"b", {40, 0}}, {"c", {1, 0}}, {"d", {0, 1}}};
  const OneSidedLevels found = find_one_sided("city", counts, {"a", "b"});
  EXPECT_EQ(found.names, std::vector<std::string>{"city = b (40 rows of the numerator)"});
  EXPECT_EQ(found.numerator, 0);
  EXPECT_EQ(found.denominator, 0);
}

}  // namespace
}  // namespace dre::testing
