#include "tests/cli/tool.h"

namespace dre::testing {
namespace {

/// Some seconds of training, unless it is stopped.
Arguments long_fit(const std::string& steps = "800", const std::string& numerator = "a.csv") {
  return Arguments{"fit", "--quiet", "--out", "m.safetensors", "--steps", steps,        "--width",
                   "32",  "--batch", "64",    "--threads",     "1",       "--patience", "0"} +
         two_files(numerator);
}

TEST(Resume, CtrlCEndsWithCode130AndLeavesNoModel) {
  const Directory directory;
  write_sides(directory);
  Process process(directory, long_fit("10000000"));
  process.interrupt();
  const Outcome outcome = process.wait();
  EXPECT_EQ(outcome.code, 130);
  EXPECT_EQ(outcome.out, "");
  expect_contains(outcome.err, {"dre fit: interrupted; "});
  EXPECT_FALSE(std::filesystem::exists(directory.path("m.safetensors")));
}

TEST(Resume, AnInterruptedFitGoesOnToTheSameBytes) {
  const Directory directory;
  write_sides(directory);
  expect_fine(run_tool(directory, long_fit()));
  const std::string model = directory.read("m.safetensors");
  std::filesystem::remove(directory.path("m.safetensors"));
  Process process(directory, long_fit());
  process.interrupt();
  const Outcome interrupted = process.wait();
  ASSERT_EQ(interrupted.code, 130) << interrupted.err;
  expect_contains(interrupted.err, {"m.safetensors.checkpoint", "--resume"});
  const std::string checkpoint = directory.read("m.safetensors.checkpoint");

  const Outcome other_options =
      run_tool(directory, long_fit() + Arguments{"--resume", "--rate", "0.5"});
  EXPECT_EQ(other_options.code, 2);
  expect_contains(other_options.err, {"--rate 0.001", "this one has 0.5"});
  directory.write("c.csv", csv(normal_rows(400, 2, 0, 9), "x0,x1"));
  const Outcome other_data = run_tool(directory, long_fit("800", "c.csv") + Arguments{"--resume"});
  EXPECT_EQ(other_data.code, 3);
  expect_contains(other_data.err, {"other data"});
  EXPECT_TRUE(directory.read("m.safetensors.checkpoint") == checkpoint);

  expect_fine(run_tool(directory, long_fit() + Arguments{"--resume"}));
  EXPECT_TRUE(directory.read("m.safetensors") == model);
  EXPECT_FALSE(std::filesystem::exists(directory.path("m.safetensors.checkpoint")));
}

}  // namespace
}  // namespace dre::testing
