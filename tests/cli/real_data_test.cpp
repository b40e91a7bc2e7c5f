/// Real tables, where DRE_DATA names the folder that has them: one random split, one pair of tables
/// that hardly overlap.
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "tests/cli/tool.h"

namespace dre::testing {
namespace {

nlohmann::json compare_files(const std::string& numerator, const std::string& denominator) {
  const Directory directory;
  const Outcome outcome =
      run_tool(directory, Arguments{"compare", "--quiet", "--format", "json", "--max-rows", "3000",
                                    "--steps", "300", "--folds", "3", "--threads", "1"} +
                              two_files(numerator, denominator));
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  return outcome.code == 0 ? nlohmann::json::parse(outcome.out) : nlohmann::json();
}

std::vector<std::string> codes(const nlohmann::json& result) {
  std::vector<std::string> out;
  for (const auto& warning : result["warnings"]) out.push_back(warning["code"]);
  return out;
}

bool has(const std::vector<std::string>& all, const std::string& one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

TEST(RealData, ARandomSplitIsFoundEqual) {
  const char* folder = std::getenv("DRE_DATA");
  if (folder == nullptr) GTEST_SKIP() << "DRE_DATA is not set; it names the folder of the data";
  const std::string adult = std::string(folder) + "/tabular/adult/adult_";
  const auto result = compare_files(adult + "train.csv", adult + "test.csv");
  EXPECT_GT(result["test"]["p_value"], 0.01);
  EXPECT_EQ(result["kl"]["low"], 0);
  EXPECT_LT(result["tv"]["value"], 0.05);
  EXPECT_EQ(result["columns"].size(), 15);
}

TEST(RealData, RedAndWhiteWineHardlyOverlap) {
  const char* folder = std::getenv("DRE_DATA");
  if (folder == nullptr) GTEST_SKIP() << "DRE_DATA is not set; it names the folder of the data";
  const std::string wine = std::string(folder) + "/tabular/wine_quality/wine_";
  const auto result = compare_files(wine + "red.csv", wine + "white.csv");
  EXPECT_LT(result["test"]["p_value"], 0.01);
  EXPECT_GT(result["auc"]["before"], 0.98);
  EXPECT_GT(result["weights"]["pareto_k"], 0.7);
  EXPECT_TRUE(has(codes(result), "little-support"));
  EXPECT_TRUE(has(codes(result), "heavy-weights"));
}

}  // namespace
}  // namespace dre::testing
