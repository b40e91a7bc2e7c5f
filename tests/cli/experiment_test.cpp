#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/tool.h"

namespace dre::testing {
namespace {

TEST(ExperimentCommand, ListsTheExperiments) {
  const Directory directory;
  const Outcome outcome = Process(directory, {"experiment", "list"}).wait();
  EXPECT_EQ(outcome.code, 0);
  for (const char* name :
       {"gaussian-1d", "gaussian-2d", "gaussian-2d-shifted", "mutual-information",
        "infinitesimal-classifier", "integration", "paths", "mnist"})
    EXPECT_NE(outcome.out.find(name), std::string::npos) << name;
}

TEST(ExperimentCommand, SaysWhatIsWrongInOneLine) {
  const Directory directory;
  for (const Arguments& arguments : {Arguments{"experiment"},
                                     {"experiment", "walk"},
                                     {"experiment", "run"},
                                     {"experiment", "run", "zebra"},
                                     {"experiment", "run", "paths", "--jobs", "0"},
                                     {"experiment", "run", "paths", "--format", "poem"},
                                     {"experiment", "run", "paths", "--only", "no such cell"}}) {
    const Outcome outcome = Process(directory, arguments).wait();
    EXPECT_EQ(outcome.code, 2) << outcome.err;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    EXPECT_EQ(outcome.out, "");
  }
}

TEST(ExperimentCommand, SaysWhereImagesComeFrom) {
  const Directory directory;
  const Outcome missing =
      Process(directory, {"experiment", "run", "mnist", "--data", "nowhere", "--out", "found"})
          .wait();
  EXPECT_EQ(missing.code, 2);
  EXPECT_NE(missing.err.find("dre data mnist --out DIR"), std::string::npos) << missing.err;
  const Outcome homeless = Process(directory, {"experiment", "run", "mnist", "--data", "."}).wait();
  EXPECT_EQ(homeless.code, 2);
  EXPECT_NE(homeless.err.find("--out DIR"), std::string::npos) << homeless.err;
}

TEST(ExperimentCommand, WritesThePageAndGoesOnFromFinishedCells) {
  const Directory directory;
  const Arguments arguments = {"experiment", "run",   "infinitesimal-classifier",
                               "--quick",    "--out", "found",
                               "--format",   "json"};
  const Outcome first = Process(directory, arguments).wait();
  ASSERT_EQ(first.code, 0) << first.err;
  const auto json = nlohmann::json::parse(first.out);
  EXPECT_EQ(json["experiment"], "infinitesimal-classifier");
  EXPECT_EQ(json["tables"].size(), 2U);
  EXPECT_NE(directory.read("found/infinitesimal-classifier-quick.html").find("<!DOCTYPE html>"),
            std::string::npos);
  const Outcome second = Process(directory, arguments).wait();
  EXPECT_EQ(second.out, first.out);
  // What a full run leaves in the same folder is its own.
  Arguments full = arguments;
  std::erase(full, "--quick");
  const Outcome other = Process(directory, full + Arguments{"--only", "sums over"}).wait();
  ASSERT_EQ(other.code, 0) << other.err;
  EXPECT_NE(directory.read("found/infinitesimal-classifier.html"), "");
  EXPECT_EQ(Process(directory, arguments).wait().out, first.out);
}

/// A part of `--quick` on the real images: noise model, classifier, both annealings, page.
TEST(ExperimentCommand, QuickMnistGoesFromImagesToAPage) {
  if (!std::getenv("DRE_DATA")) GTEST_SKIP() << "DRE_DATA is not set";
  const Directory directory;
  for (const char* cells : {"noise model gaussian", "nce from gaussian"})
    expect_fine(run_tool(directory, {"experiment", "run", "mnist", "--quick", "--device", "cpu",
                                     "--out", "found", "--only", cells, "--quiet"}));
  const auto found = nlohmann::json::parse(directory.read("found/mnist-quick.cells.json"));
  ASSERT_EQ(found.size(), 4U);
  // The noise model is the paper's but for 4 000 images in place of 50 000.
  EXPECT_NEAR(found[0]["result"]["bits"]["value"].get<double>(), 2.01, 0.2);
  EXPECT_NE(directory.read("found/mnist-quick.html").find("data:image/png"), std::string::npos);
}

}  // namespace
}  // namespace dre::testing
