#include <torch/cuda.h>

#include <cstdlib>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/cli/tool.h"

namespace dre::testing {
namespace {

/// An argument list from text without quotes.
Arguments words(const std::string& line) {
  std::istringstream stream(line);
  return Arguments(std::istream_iterator<std::string>(stream), {});
}

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
  const auto ebm = [&](const std::string& action, const std::string& more) {
    const Outcome outcome =
        run_tool(directory, Arguments{"ebm", action, "--device", "cuda", "--deterministic",
                                      "--quiet", "--data", mnist} +
                                words(more));
    expect_fine(outcome);
    return outcome.out;
  };
  for (const std::string objective :
       {"velocity --levels 2 --blocks 1", "time", "time --times history"}) {
    const auto figures = [&] {
      ebm("fit",
          "--out m.safetensors --width 32 --steps 20 --batch 64 --evaluate-every 10 "
          "--look-rows 16 --objective " +
              objective);
      nlohmann::json report = nlohmann::json::parse(
          ebm("eval",
              "--model m.safetensors --rows 20 --nodes 2 --anneal "
              "--no-anneal-doubled --anneal-rows 8 --chains 8 --anneal-steps 4 "
              "--leapfrogs 2 --pilot-steps 2 --format json"));
      report.erase("seconds_for_100_ratios");
      return std::pair(directory.read("m.safetensors"), report);
    };
    const auto [model, report] = figures();
    const auto [model_again, report_again] = figures();
    EXPECT_TRUE(model == model_again) << objective;
    EXPECT_TRUE(report.contains("annealed"));
    EXPECT_EQ(report, report_again) << objective;
  }
}

TEST(Deterministic, WithCudaAnInterruptedFitGoesOnToTheSameBytes) {
  if (!torch::cuda::is_available()) GTEST_SKIP() << "no CUDA here";
  const Directory directory;
  write_sides(directory);
  const Arguments fit =
      words(
          "fit --quiet --out m.safetensors --steps 3000 --width 32 --batch 64 --guard 0 "
          "--patience 0 --device cuda --deterministic") +
      two_files();
  expect_fine(run_tool(directory, fit));
  const std::string model = directory.read("m.safetensors");
  std::filesystem::remove(directory.path("m.safetensors"));
  Process process(directory, fit);
  process.interrupt();
  const Outcome interrupted = process.wait();
  ASSERT_EQ(interrupted.code, 130) << interrupted.err;
  expect_fine(run_tool(directory, fit + Arguments{"--resume"}));
  EXPECT_TRUE(directory.read("m.safetensors") == model);
}

TEST(Deterministic, WithCudaAnInterruptedFitOfImagesGoesOnToTheSameBytes) {
  if (!torch::cuda::is_available()) GTEST_SKIP() << "no CUDA here";
  const char* data = std::getenv("DRE_DATA");
  if (data == nullptr) GTEST_SKIP() << "DRE_DATA is not set";
  const Directory directory;
  const Arguments fit =
      words(
          "ebm fit --quiet --out m --width 32 --levels 2 --blocks 1 --steps 3000 --batch 64 "
          "--evaluate-every 300 --look-rows 16 --device cuda --deterministic") +
      Arguments{"--data", std::string(data) + "/mnist"};
  expect_fine(run_tool(directory, fit));
  const std::string model = directory.read("m");
  for (const char* file : {"m", "m.log.jsonl"}) std::filesystem::remove(directory.path(file));
  Process process(directory, fit);
  wait_for_text(directory, "m.log.jsonl");
  process.interrupt();
  const Outcome interrupted = process.wait();
  ASSERT_EQ(interrupted.code, 130) << interrupted.err;
  expect_fine(run_tool(directory, fit + Arguments{"--resume"}));
  EXPECT_TRUE(directory.read("m") == model);
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
