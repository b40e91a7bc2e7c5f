/// What quick runs say must already be true.
#include <gtest/gtest.h>

#include <cmath>

#include "experiments/all.h"
#include "experiments/runner.h"

namespace dre::experiments {
namespace {

Results quick_run(const std::string& name, const std::string& only) {
  Settings settings;
  settings.size = Size::quick;
  Progress silent;
  const RunReport run =
      run_cells(*experiment_by_name(name), settings, {"", only, "cpu", 1, 1}, silent);
  EXPECT_TRUE(run.failures.empty()) << run.failures.front();
  return run.results;
}

TEST(QuickFigures, OneScalarIsFoundUpToAThousandthOfTheRange) {
  const Results results = quick_run("gaussian-1d", "");
  for (const char* row : {"q = N(0, 0.01)", "q = N(0, 1e-6)"}) {
    const Json* result = results.find(row);
    ASSERT_TRUE(result) << row;
    EXPECT_LT(number_in(*result, "relative"), 1e-3) << result->dump();
    EXPECT_LT(std::abs(number_in(*result, "theta")), 0.01) << "from 1; " << result->dump();
  }
}

TEST(QuickFigures, OnlyTheMultipliedLossMovesTheMinimum) {
  const std::string row = ", exact but for a function of time";
  const auto drift = [&](const std::string& times) {
    const Results results = quick_run("integration", times + row);
    return number_in(*results.find(times + row), "drift");
  };
  // In ten times as many batches the others have standard deviations of at most 0.01 over seeds.
  const double error = 0.01 * std::sqrt(10);
  EXPECT_NEAR(drift("uniform times"), 0, 5 * error);
  EXPECT_NEAR(drift("importance sampling by loss history (ours)"), 0, 5 * error);
  // 4.26 in the end; its first hundred batches have no history yet.
  EXPECT_GT(drift("multiplied by loss history (as published)"), 3);
}

}  // namespace
}  // namespace dre::experiments
