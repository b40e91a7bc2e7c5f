#include <torch/cuda.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "tests/cli/tool.h"

namespace dre::testing {
namespace {

TEST(Deterministic, IsAFlagOfEveryCommandThatComputes) {
  const Directory directory;
  for (const Arguments& command : std::vector<Arguments>{{"fit"},
                                                         {"ratio"},
                                                         {"compare"},
                                                         {"weights"},
                                                         {"mi"},
                                                         {"flow", "fit"},
                                                         {"flow", "eval"},
                                                         {"flow", "sample"},
                                                         {"ebm", "fit"},
                                                         {"ebm", "eval"},
                                                         {"ebm", "sample"},
                                                         {"experiment", "run"}}) {
    const Outcome outcome = run_tool(directory, command + Arguments{"--help"});
    EXPECT_NE(outcome.out.find("--deterministic"), std::string::npos) << command.back();
  }
}

TEST(Deterministic, OnTheCpuItChangesNothing) {
  const Directory directory;
  write_sides(directory);
  const Arguments fit = two_files() + Arguments{"--device", "cpu"};
  expect_fine(run_tool(directory, fit_with(fit)));
  expect_fine(run_tool(directory, fit_with(fit, "again") + Arguments{"--deterministic"}));
  EXPECT_EQ(directory.read("m.safetensors"), directory.read("again"));
}

TEST(Deterministic, WithCudaFitsHaveTheSameBytes) {
  if (!torch::cuda::is_available()) GTEST_SKIP() << "no CUDA here";
  const Directory directory;
  write_sides(directory);
  for (const char* method : {"auto", "nce", "time", "joint", "conditional", "conditional-vector",
                             "velocity", "which-time-continuous", "infinitesimal"}) {
    const Arguments fit =
        two_files() +
        Arguments{"--device", "cuda", "--deterministic", "--guard", "0", "--method", method};
    expect_fine(run_tool(directory, fit_with(fit)));
    expect_fine(run_tool(directory, fit_with(fit, "again")));
    EXPECT_EQ(directory.read("m.safetensors"), directory.read("again")) << method;
  }
}

/// Trains, judges and anneals twice.
TEST(Deterministic, WithCudaImagesHaveTheSameBits) {
  if (!torch::cuda::is_available()) GTEST_SKIP() << "no CUDA here";
  const char* data = std::getenv("DRE_DATA");
  if (data == nullptr) GTEST_SKIP() << "DRE_DATA is not set";
  const std::string mnist = std::string(data) + "/mnist";
  const Directory directory;
  const Arguments machine = {"--device", "cuda", "--deterministic", "--quiet", "--data", mnist};
  const auto figures = [&](const Arguments& fit) {
    expect_fine(run_tool(
        directory, Arguments{"ebm", "fit", "--out", "m.safetensors", "--steps", "60", "--batch",
                             "64", "--evaluate-every", "30", "--look-rows", "16"} +
                       machine + fit));
    const Outcome judged = run_tool(directory, Arguments{"ebm",
                                                         "eval",
                                                         "--model",
                                                         "m.safetensors",
                                                         "--rows",
                                                         "40",
                                                         "--nodes",
                                                         "4",
                                                         "--flow-steps",
                                                         "2",
                                                         "--anneal",
                                                         "--anneal-rows",
                                                         "8",
                                                         "--chains",
                                                         "8",
                                                         "--anneal-steps",
                                                         "4",
                                                         "--pilot-steps",
                                                         "2",
                                                         "--format",
                                                         "json"} +
                                                   machine);
    expect_fine(judged);
    nlohmann::json report = nlohmann::json::parse(judged.out);
    report.erase("seconds_for_100_ratios");
    return report;
  };
  for (const Arguments& fit : std::vector<Arguments>{
           {"--objective", "velocity"}, {"--objective", "time"}, {"--objective", "joint"}}) {
    const nlohmann::json first = figures(fit);
    EXPECT_EQ(first, figures(fit)) << fit.back();
    EXPECT_FALSE(first.empty());
  }
}

TEST(Deterministic, WithCudaFlowsHaveTheSameBytes) {
  if (!torch::cuda::is_available()) GTEST_SKIP() << "no CUDA here";
  const char* data = std::getenv("DRE_DATA");
  if (data == nullptr) GTEST_SKIP() << "DRE_DATA is not set";
  const Directory directory;
  for (const char* density : {"copula", "rq-nsf"}) {
    for (const char* out : {"first", "second"})
      expect_fine(run_tool(directory, {"flow", "fit", "--data", std::string(data) + "/mnist",
                                       "--density", density, "--steps", "40", "--device", "cuda",
                                       "--deterministic", "--out", out, "--quiet"}));
    EXPECT_EQ(directory.read("first"), directory.read("second")) << density;
  }
}

}  // namespace
}  // namespace dre::testing
