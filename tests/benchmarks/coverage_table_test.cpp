#include "benchmarks/coverage_table.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "dre/base/error.h"

namespace dre::benchmarks {
namespace {

CoverageLine line(const std::string& pair, const std::string& measure, int64_t seed, double truth,
                  double low, double high) {
  return {pair, measure, seed, truth, {0.5 * (low + high), 0, low, high}};
}

TEST(CoverageTable, CountsIntervalsOnBothSidesOfTheTruth) {
  const std::string table =
      coverage_table({line("a", "JS", 0, 1, 0.5, 1.5), line("a", "JS", 1, 1, 0.5, 0.75),
                      line("a", "TV", 0, 1, 1.5, 2.5), line("a", "JS", 2, 1, 1, 2),
                      line("a", "JS", 3, 1, 0.25, 1.25)});
  // mean of 1, 0.625, 1.5, 0.75; mean width of 1, 0.25, 1, 1
  EXPECT_NE(table.find("| a | JS | 1.0000 | 0.9688 | 0.3870 | 0.8125 | 1 | 0 | 75 % of 4 |"),
            std::string::npos)
      << table;
  EXPECT_NE(table.find("| a | TV | 1.0000 | 2.0000 | 0.0000 | 1.0000 | 0 | 1 | 0 % of 1 |"),
            std::string::npos)
      << table;
}

TEST(CoverageTable, PValuesOfEqualSidesOnly) {
  std::vector<CoverageLine> lines;
  for (const char* pair : {"equal", "apart"}) {
    lines.push_back(line(pair, "KL(num, den)", 0, pair == std::string("apart"), 0, 1));
    lines.push_back(line(pair, CoverageLine::p_value, 0, 0, 0.3, 0.3));
  }
  const std::string table = coverage_table(lines);
  EXPECT_NE(table.find("p-values of equal: distance from uniform 0.700 over 1 seeds"),
            std::string::npos)
      << table;
  EXPECT_EQ(table.find("p-values of apart"), std::string::npos) << table;
}

TEST(CoverageTable, LinesOfManyFilesComeBack) {
  const std::string name = testing::TempDir() + "coverage.jsonl";
  const CoverageLine one = line("a", "JS", 7, 1, 0.5, 1.5);
  std::ofstream(name) << one.to_json().dump() << "\n" << one.to_json().dump() << "\n";
  const auto lines = read_coverage({name, name});
  ASSERT_EQ(lines.size(), 4);
  EXPECT_EQ(lines[3].to_json(), one.to_json());
  std::ofstream(name, std::ios::app) << "half a li\n";
  try {
    read_coverage({name});
    FAIL() << "a damaged line was read";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("line 3"), std::string::npos) << error.what();
  }
  std::filesystem::remove(name);
}

}  // namespace
}  // namespace dre::benchmarks
