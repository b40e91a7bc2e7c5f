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

/// The message of the data error that reading these files ends with; empty where there is none.
std::string complaint(const std::vector<std::string>& files) {
  try {
    read_coverage(files);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), Error::Kind::data);
    return error.what();
  }
  return "";
}

TEST(CoverageTable, LinesOfManyFilesComeBack) {
  const std::string first = testing::TempDir() + "coverage-1.jsonl";
  const std::string second = testing::TempDir() + "coverage-2.jsonl";
  const CoverageLine one = line("a", "JS", 7, 1, 0.5, 1.5), other = line("a", "JS", 8, 1, 0, 1);
  std::ofstream(first) << one.to_json().dump() << "\n";
  std::ofstream(second) << other.to_json().dump() << "\n";
  const auto lines = read_coverage({first, second});
  ASSERT_EQ(lines.size(), 2);
  EXPECT_EQ(lines[0].to_json(), one.to_json());
  EXPECT_EQ(lines[1].to_json(), other.to_json());
  EXPECT_NE(complaint({first, first}).find("seed 7 of a, JS is there twice"), std::string::npos);
  std::ofstream(second, std::ios::app) << "half a li\n";
  EXPECT_NE(complaint({second}).find("line 2"), std::string::npos);
  std::filesystem::remove(first);
  std::filesystem::remove(second);
}

}  // namespace
}  // namespace dre::benchmarks
