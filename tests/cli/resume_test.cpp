#include <sys/stat.h>

#include <algorithm>

#include "dre/data/safetensors.h"
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

/// As timeout does it: one to the process, one to its group.
TEST(Resume, TwoSignalsAtOnceAreOneRequest) {
  const Directory directory;
  write_sides(directory);
  Process process(directory, long_fit("10000000"));
  process.interrupt(SIGTERM, 2);
  const Outcome outcome = process.wait();
  EXPECT_EQ(outcome.code, 130);
  expect_contains(outcome.err, {"m.safetensors.checkpoint"});
  EXPECT_TRUE(std::filesystem::exists(directory.path("m.safetensors.checkpoint")));
}

/// Work that cannot stop, as it waits for rows that do not come.
TEST(Resume, ASignalThatComesLaterKills) {
  const Directory directory;
  write_sides(directory);
  expect_fine(run_tool(directory, fit_with(two_files())));
  const std::string rows = directory.path("rows.csv");
  ASSERT_EQ(::mkfifo(rows.c_str(), 0600), 0);
  const int pipe = ::open(rows.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK);
  ASSERT_GE(pipe, 0);
  // What the reader asks for before it looks at the header; the first row has no end.
  constexpr int size = 1 << 20;
  if (::fcntl(pipe, F_SETPIPE_SZ, size) < size) {
    ::close(pipe);
    GTEST_SKIP() << "no pipe of a megabyte here";
  }
  const std::string begin = "x0,x1,name\n1,2," + std::string(size, 'a');
  EXPECT_EQ(::write(pipe, begin.data(), size), size);
  Process process(directory, {"ratio", "--model", "m.safetensors", "--input", "rows.csv"});
  process.interrupt(SIGTERM);
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));
  EXPECT_TRUE(process.lives());
  process.interrupt(SIGTERM);
  ::close(pipe);  // a tool that is still there comes to the end of its rows
  EXPECT_EQ(process.wait().code, -SIGTERM);
}

TEST(Resume, AFinishedFitIsNotDoneAgain) {
  const Directory directory;
  write_sides(directory);
  expect_fine(run_tool(directory, long_fit("20")));
  const std::string model = directory.read("m.safetensors");
  const Outcome again = run_tool(directory, long_fit("20") + Arguments{"--resume"});
  EXPECT_EQ(again.code, 2);
  expect_contains(again.err, {"there is no m.safetensors.checkpoint", "as after a finished fit"});
  EXPECT_TRUE(directory.read("m.safetensors") == model);
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
  const Outcome info = run_tool(directory, {"info", "m.safetensors.checkpoint"});
  EXPECT_EQ(info.code, 3);
  expect_contains(info.err, {"m.safetensors.checkpoint is the state of an unfinished fit"});

  const Outcome other_options =
      run_tool(directory, long_fit() + Arguments{"--resume", "--rate", "0.5"});
  EXPECT_EQ(other_options.code, 2);
  expect_contains(other_options.err, {"--rate 0.001", "this one has 0.5"});
  TensorFile of_before = load_safetensors(directory.path("m.safetensors.checkpoint"));
  auto told = nlohmann::json::parse(of_before.metadata.at("dre-checkpoint"));
  told["options"].erase("rate");
  of_before.metadata["dre-checkpoint"] = told.dump();
  save_safetensors(directory.path("m.safetensors.checkpoint"), of_before);
  const Outcome other_build = run_tool(directory, long_fit() + Arguments{"--resume"});
  EXPECT_EQ(other_build.code, 3);
  expect_contains(other_build.err, {"another build", "--rate"});
  directory.write("m.safetensors.checkpoint", checkpoint);

  directory.write("c.csv", csv(normal_rows(400, 2, 0, 9), "x0,x1"));
  const Outcome other_data = run_tool(directory, long_fit("800", "c.csv") + Arguments{"--resume"});
  EXPECT_EQ(other_data.code, 3);
  expect_contains(other_data.err, {"other data"});
  EXPECT_TRUE(directory.read("m.safetensors.checkpoint") == checkpoint);

  expect_fine(run_tool(directory, long_fit() + Arguments{"--resume"}));
  EXPECT_TRUE(directory.read("m.safetensors") == model);
  EXPECT_FALSE(std::filesystem::exists(directory.path("m.safetensors.checkpoint")));
}

/// The same command again, without --resume, is easily typed: what it would have gone on from stays
/// until a fit is finished.
TEST(Resume, AFreshStartKeepsWhatWasInterrupted) {
  const Directory directory;
  write_sides(directory);
  const auto interrupted = [&](const Arguments& fit) {
    Process process(directory, fit);
    process.interrupt();
    const Outcome outcome = process.wait();
    EXPECT_EQ(outcome.code, 130) << outcome.err;
    return outcome;
  };
  Arguments loud = long_fit("10000000");
  loud.erase(std::find(loud.begin(), loud.end(), "--quiet"));
  const std::string name = "m.safetensors.checkpoint";
  interrupted(loud);
  const std::string first = directory.read(name);
  expect_contains(interrupted(loud).err, {name + ".before", "--resume", "[old-checkpoint]"});
  EXPECT_TRUE(directory.read(name + ".before") == first);
  const std::string second = directory.read(name);
  expect_contains(interrupted(loud).err, {name + ".before2"});
  EXPECT_TRUE(directory.read(name + ".before") == first);
  EXPECT_TRUE(directory.read(name + ".before2") == second);

  std::filesystem::remove(directory.path(name));
  const Outcome resumed = run_tool(directory, loud + Arguments{"--resume"});
  EXPECT_EQ(resumed.code, 2);
  expect_contains(resumed.err, {"there is no " + name, name + ".before"});
  expect_fine(run_tool(directory, long_fit("20")));
  for (const char* ending : {"", ".before", ".before2"})
    EXPECT_FALSE(std::filesystem::exists(directory.path(name + ending))) << ending;
}

}  // namespace
}  // namespace dre::testing
