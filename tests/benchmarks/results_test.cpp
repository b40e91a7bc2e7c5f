#include "benchmarks/results.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>

#include "benchmarks/pairs/suite.h"
#include "dre/base/error.h"

namespace dre::benchmarks {
namespace {

/// A file of its own for each test, gone afterwards.
class ResultsFile : public testing::Test {
 protected:
  ResultsFile()
      : path_(testing::TempDir() + "results-" +
              testing::UnitTest::GetInstance()->current_test_info()->name() + ".json") {
    std::filesystem::remove(path_);
  }
  ~ResultsFile() override { std::filesystem::remove(path_); }

  std::string path_;
};

TEST_F(ResultsFile, ARunGoesOnWhereItStopped) {
  const Cell cell{"gaussian-2d", "plug-in", 100, 0};
  Results(path_).add(cell, {0.5, 2});
  Results later(path_);
  EXPECT_TRUE(later.has(cell));
  EXPECT_FALSE(later.has({"gaussian-2d", "plug-in", 200, 0}));
  EXPECT_FALSE(later.has({"gaussian-2d", "plug-in", 100, 1}));
  EXPECT_FALSE(later.mean("gaussian-2d", "plug-in", 100, 2));
  later.add({"gaussian-2d", "plug-in", 100, 1}, {1.5, 4});
  const auto mean = Results(path_).mean("gaussian-2d", "plug-in", 100, 2);
  ASSERT_TRUE(mean);
  EXPECT_EQ(mean->mse, 1);
  EXPECT_EQ(mean->seconds, 3);
}

TEST_F(ResultsFile, AFitThatGaveNoNumberIsRemembered) {
  const Cell cell{"a", "b", 100, 0};
  Results(path_).add(cell, {std::numeric_limits<double>::quiet_NaN(), 2});
  const Results later(path_);
  EXPECT_TRUE(later.has(cell));
  EXPECT_TRUE(std::isnan(later.mean("a", "b", 100, 1)->mse));
}

TEST_F(ResultsFile, AForeignFileIsRefused) {
  std::ofstream(path_) << "{\"cells\": [{\"pair\": 1}]}";
  EXPECT_THROW(Results{path_}, Error);
  std::ofstream(path_) << "not json";
  EXPECT_THROW(Results{path_}, Error);
}

TEST_F(ResultsFile, APlaceThatCannotBeWrittenIsRefusedAtOnce) {
  EXPECT_THROW(Results{path_ + "-no-such-folder/results.json"}, Error);
}

TEST(Markdown, ShowsGeometricMeansOfCompleteColumnsOnly) {
  Results results("");
  results.add({"a", "x", 10, 0}, {0.5, 1});
  results.add({"b", "x", 10, 0}, {8, 3});
  results.add({"a", "y", 10, 0}, {0.125, 1});
  const Selection selection{{{"a", 2, 16}, {"b", 30, 0.25}}, {"x", "y"}, 10, 1};
  EXPECT_EQ(markdown(results, selection),
            "| pair | d | KL | x | y |\n"
            "| --- | --- | --- | --- | --- |\n"
            "| a | 2 | 16 | 0.5 | 0.125 |\n"
            "| b | 30 | 0.25 | 8 | – |\n"
            "| **geometric mean** |  |  | 2 | – |\n"
            "| seconds a fit |  |  | 2 | – |\n");
}

TEST(Measure, IsTheMeanSquaredDistanceFromTheTruth) {
  for (const char* name : {"gaussian-2d-shifted", "mi-additive-uniform", "student-correlated-10"}) {
    const pairs::Pair pair = pairs::pair_by_name(name);
    const Method off_by_two = [&](const Tensor&, const Tensor&, const Tensor& test, uint64_t) {
      return pair.log_ratio(test) + 2;
    };
    EXPECT_NEAR(measure(pair, off_by_two, 10, 0).mse, 4, 1e-9) << name;
  }
}

TEST(Measure, AllMethodsSeeTheSameDataOfASeed) {
  const pairs::Pair pair = pairs::pair_by_name("mixture-2");
  std::vector<Tensor> seen;
  const Method spy = [&](const Tensor& numerator, const Tensor& denominator, const Tensor& test,
                         uint64_t) {
    seen.push_back(torch::cat({numerator, denominator, test}));
    return torch::zeros({test.size(0)});
  };
  for (const uint64_t seed : {0, 0, 1}) measure(pair, spy, 20, seed);
  EXPECT_EQ(seen[0].size(0), 20 + 20 + test_rows);
  EXPECT_TRUE(torch::equal(seen[0], seen[1]));
  EXPECT_FALSE(torch::equal(seen[0], seen[2]));
}

TEST(Measure, RefusesAnEstimateOfAnotherShape) {
  const Method wrong = [](const Tensor&, const Tensor&, const Tensor& test, uint64_t) {
    return torch::zeros({test.size(0), 1});
  };
  EXPECT_THROW(measure(pairs::pair_by_name("gaussian-2d"), wrong, 10, 0), Error);
}

TEST(Methods, TakeOptionsOfTheFit) {
  EXPECT_NO_THROW(method_by_name("time:matching=boundary:batch=64"));
  EXPECT_THROW(method_by_name("time:batch"), Error);
  EXPECT_THROW(method_by_name("time:bach=64"), Error);
  EXPECT_THROW(method_by_name("time:batch=-1"), Error);
  EXPECT_THROW(method_by_name("tiem"), Error);
}

/// The known figures of the plug-ins on the 2-D pair: 0.063 separate and 0.040 pooled.
TEST(GaussianPlugIn, HasItsKnownErrorInTwoDimensions) {
  const pairs::Pair pair = pairs::pair_by_name("gaussian-2d");
  const int64_t seeds = 50;
  for (const auto& [name, expected] :
       {std::pair("gaussian-plug-in", 0.063), std::pair("gaussian-plug-in-pooled", 0.040)}) {
    std::vector<double> errors;
    for (int64_t seed = 0; seed < seeds; ++seed)
      errors.push_back(measure(pair, method_by_name(name), 10'000, seed).mse);
    const Tensor values = torch::tensor(errors, torch::kFloat64);
    const double error = values.std().item<double>() / std::sqrt(static_cast<double>(seeds));
    EXPECT_NEAR(values.mean().item<double>(), expected, 4 * error) << name;
    EXPECT_LT(error, 0.02) << name;
  }
}

}  // namespace
}  // namespace dre::benchmarks
