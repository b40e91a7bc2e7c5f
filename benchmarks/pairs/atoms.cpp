#include <cmath>

#include "benchmarks/pairs/combine.h"
#include "benchmarks/pairs/parameters.h"
#include "benchmarks/pairs/suite.h"

namespace dre::pairs {
namespace {

/// A row of levels, one of each column.
using Levels = std::vector<int64_t>;

/// All rows of columns with so many levels, the last column fastest.
std::vector<Levels> all_rows(const Levels& counts) {
  std::vector<Levels> rows = {{}};
  for (const int64_t count : counts) {
    std::vector<Levels> longer;
    for (const Levels& row : rows)
      for (int64_t level = 0; level < count; ++level) {
        longer.push_back(row);
        longer.back().push_back(level);
      }
    rows = std::move(longer);
  }
  return rows;
}

DensityPtr indicators(const Levels& row, const Levels& counts) {
  std::vector<double> place;
  for (size_t i = 0; i < row.size(); ++i)
    for (int64_t level = 1; level < counts[i]; ++level) place.push_back(row[i] == level);
  return point(torch::tensor(place, torch::kFloat64));
}

/// Probabilities of all rows, and what else a row of these levels holds.
struct LevelTable {
  Levels counts;
  double (*probability)(const Levels& row);
  DensityPtr (*numbers)(const Levels& row) = nullptr;
};

DensityPtr table_of(const LevelTable& table) {
  std::vector<double> weights;
  std::vector<DensityPtr> parts;
  for (const Levels& row : all_rows(table.counts)) {
    weights.push_back(table.probability(row));
    const DensityPtr levels = indicators(row, table.counts);
    parts.push_back(table.numbers ? product({levels, table.numbers(row)}) : levels);
  }
  return mixture(weights, std::move(parts));
}

double kl_of(const LevelTable& numerator, const LevelTable& denominator) {
  double sum = 0;
  for (const Levels& row : all_rows(numerator.counts)) {
    const double p = numerator.probability(row);
    sum += p * std::log(p / denominator.probability(row));
  }
  return sum;
}

PairParts levels_pair(const LevelTable& numerator, const LevelTable& denominator) {
  return {table_of(numerator), table_of(denominator), kl_of(numerator, denominator)};
}

constexpr double uneven[] = {0.5, 0.3, 0.2};

/// One column whose levels have other frequencies.
PairParts levels_1() {
  constexpr static double shares[] = {0.35, 0.25, 0.18, 0.13, 0.09};
  return levels_pair({{5}, [](const Levels& row) { return shares[row[0]]; }},
                     {{5}, [](const Levels&) { return 0.2; }});
}

/// Two columns that agree more often than by chance, and a third.
PairParts levels_3() {
  return levels_pair(
      {{3, 3, 3},
       [](const Levels& row) { return (row[0] == row[1] ? 0.55 : 0.225) / 3 * uneven[row[2]]; }},
      {{3, 3, 3}, [](const Levels& row) { return uneven[row[2]] / 9; }});
}

/// Any two columns are independent, all three are not.
PairParts levels_3_ways() {
  return levels_pair(
      {{3, 3, 3},
       [](const Levels& row) { return ((row[0] + row[1] + row[2]) % 3 == 0 ? 1.8 : 0.6) / 27; }},
      {{3, 3, 3}, [](const Levels&) { return 1.0 / 27; }});
}

/// Columns that nearly decide each other, on both sides alike.
PairParts null_levels_3() {
  const LevelTable both = {{3, 3, 4}, [](const Levels& row) {
                             return uneven[row[0]] * (row[0] == row[1] ? 0.85 : 0.075) *
                                    (row[2] == (row[0] + row[1]) % 4 ? 0.79 : 0.07);
                           }};
  return levels_pair(both, both);
}

PairParts counts_2() {
  return {product({poisson(2), poisson(3)}), product({poisson(2.5), poisson(3)}),
          2 * std::log(2 / 2.5) + 0.5};
}

/// x has a mean that the first column decides and, in the numerator, a level of the second shifts;
/// y follows x.
constexpr double shift = 0.8;

DensityPtr two_numbers(const Levels& row, double shifted) {
  constexpr double means[] = {0, 1, -1};
  const double mean = means[row[0]] + (row[1] == 1 ? shifted : 0);
  return gaussian(torch::tensor({mean, 0.5 * mean}, torch::kFloat64),
                  torch::tensor({{1.0, 0.5}, {0.5, 1.25}}, torch::kFloat64));
}

PairParts levels_and_numbers_7() {
  constexpr static double second[] = {0.4, 0.3, 0.2, 0.1};
  const auto probability = [](const Levels& row) { return uneven[row[0]] * second[row[1]]; };
  const LevelTable numerator = {
      {3, 4}, probability, [](const Levels& row) { return two_numbers(row, shift); }};
  const LevelTable denominator = {
      {3, 4}, probability, [](const Levels& row) { return two_numbers(row, 0); }};
  return {table_of(numerator), table_of(denominator), second[1] * shift * shift / 2};
}

}  // namespace

std::vector<PairRow> atom_rows() {
  return {{"levels-1", levels_1},           {"levels-3", levels_3},
          {"levels-3-ways", levels_3_ways}, {"null-levels-3", null_levels_3},
          {"counts-2", counts_2},           {"levels-and-numbers-7", levels_and_numbers_7}};
}

}  // namespace dre::pairs
