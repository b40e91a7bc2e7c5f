#include "dre/apps/column_effects.h"

#include <gtest/gtest.h>

#include "tests/apps/numeric_sides.h"
#include "tests/apps/side_tables.h"

namespace dre::testing {
namespace {

std::vector<ColumnEffect> effects_of(const Sides& sides, const EffectOptions& options = {}) {
  Progress silent;
  const CrossFit rated = cross_fit(sides.numerator, sides.denominator, sides.names, {2, 1000},
                                   reference_alone(3), silent);
  auto generator = stream("effects");
  return column_effects(sides.numerator, sides.denominator, sides.encoding, rated,
                        rated.denominator.log_ratio, generator, options);
}

/// `counts` cells of each text.
std::string column(const std::vector<std::pair<std::string, int>>& counts) {
  std::string csv = "c,x\n";
  int row = 0;
  for (const auto& [cell, count] : counts)
    for (int i = 0; i < count; ++i) csv += text(cell, ",", 37 * row++ % 101, "\n");
  return csv;
}

Strings levels_of(const std::string& numerator, const std::string& denominator) {
  const Directory directory;
  for (const ColumnEffect& effect :
       effects_of(load_sides(two_files(directory, numerator, denominator))))
    if (effect.name == "c") return effect.marginal.levels;
  return {};
}

/// The most frequent level has no column, be it a category, no value or the rare ones together.
TEST(ColumnEffects, TheLevelWithoutAColumnHasItsName) {
  EXPECT_EQ(levels_of(column({{"rome", 30}, {"oslo", 60}}), column({{"rome", 50}, {"oslo", 50}})),
            (Strings{"c = rome", "c = oslo"}));
  EXPECT_EQ(levels_of(column({{"rome", 30}, {"oslo", 20}, {"", 60}}),
                      column({{"rome", 20}, {"oslo", 30}, {"", 50}})),
            (Strings{"c = oslo", "c = rome", "c is missing"}));
  std::vector<std::pair<std::string, int>> rare = {{"rome", 30}};
  for (int i = 0; i < 20; ++i) rare.push_back({text("rare", i), 3});
  EXPECT_EQ(levels_of(column(rare), column(rare)), (Strings{"c = rome", "c = (other)"}));
}

/// Effects are of some rows of a large table, which may have no value of a sparse column.
TEST(ColumnEffects, AColumnWithoutAValueInTheRowsIsDescribed) {
  const Directory directory;
  const std::string csv = column({{"", 296}, {"1.5", 1}, {"2.5", 1}, {"4", 1}, {"7", 1}});
  const Sides sides = load_sides(two_files(directory, csv, csv));
  bool seen = false;
  for (const ColumnEffect& effect : effects_of(sides, {.rows = 20}))
    if (effect.name == "c" && effect.missing_numerator == 1 && effect.missing_denominator == 1) {
      seen = true;
      EXPECT_TRUE(std::isnan(effect.shift));
      for (const double share : effect.marginal.numerator) EXPECT_EQ(share, 0);
    }
  EXPECT_TRUE(seen);
}

TEST(ColumnEffects, DistancesAreSharesOfTheRows) {
  auto generator = stream("apart");
  for (const int64_t n : {60, 61, 67, 71, 83, 97, 120, 150}) {
    Sides sides = numeric_sides(rows(n, 1, 0, generator), rows(n, 1, 8, generator));
    const Tensor weight = rows(n, 1, 0, generator).squeeze(1).exp();
    sides.numerator = make_samples(sides.numerator.x, weight);
    sides.denominator = make_samples(sides.denominator.x, weight.flip(0));
    for (const ColumnEffect& effect : effects_of(sides)) {
      EXPECT_GT(effect.distance, 0.99);
      EXPECT_LE(effect.distance, 1);
      EXPECT_LE(effect.distance_reweighted, 1);
    }
  }
}

}  // namespace
}  // namespace dre::testing
