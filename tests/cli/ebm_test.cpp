#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/cli/tool.h"

namespace dre::testing {
namespace {

TEST(Ebm, SaysWhatIsMissing) {
  const Variable data("DRE_DATA", "");
  const Directory directory;
  const auto complaint = [&](const Arguments& arguments) {
    const Outcome outcome = run_tool(directory, Arguments{"ebm"} + arguments);
    EXPECT_NE(outcome.code, 0);
    return outcome.err;
  };
  EXPECT_NE(complaint({}).find("fit, eval, sample"), std::string::npos);
  EXPECT_NE(complaint({"train"}).find("known are fit, eval, sample"), std::string::npos);
  EXPECT_NE(complaint({"fit", "--out", "m"}).find("--data DIR is missing"), std::string::npos);
  EXPECT_NE(complaint({"fit", "--out", "m", "--data", "nowhere"}).find("nowhere"),
            std::string::npos);
  EXPECT_NE(complaint({"eval", "--data", "x"}).find("--model FILE is missing"), std::string::npos);
  EXPECT_NE(complaint({"fit", "--objective", "magic"}).find("velocity"), std::string::npos);
}

TEST(Ebm, TheEnvironmentSaysWhereImagesAre) {
  const Variable data("DRE_DATA", "nowhere");
  const Directory directory;
  const Arguments fit = {"ebm", "fit", "--out", "m"};
  expect_contains(run_tool(directory, fit).err, {"nowhere/mnist"});
  expect_contains(run_tool(directory, fit + Arguments{"--data", "given"}).err,
                  {"given is not a directory"});
  const Outcome eval = run_tool(directory, {"ebm", "eval", "--model", "missing"});
  EXPECT_EQ(eval.code, 3) << eval.err;
  expect_contains(eval.err, {"missing"});
}

TEST(Ebm, ListsItsFlags) {
  const Directory directory;
  const Outcome outcome = run_tool(directory, {"ebm", "fit", "--help"});
  EXPECT_EQ(outcome.code, 0);
  for (const char* flag : {"--noise", "--minutes", "--resume", "--width", "--half"})
    EXPECT_NE(outcome.out.find(flag), std::string::npos) << flag;
}

/// A network that has hardly begun to learn: all figures are near that of the noise model, which is
/// known, and none is the same.
TEST(Ebm, FitsJudgesAndDrawsImages) {
  const char* data = std::getenv("DRE_DATA");
  if (data == nullptr) GTEST_SKIP() << "DRE_DATA is not set";
  const std::string mnist = std::string(data) + "/mnist";
  const Directory directory;
  const auto ebm = [&](const std::string& action, const Arguments& arguments) {
    const Outcome outcome =
        run_tool(directory, Arguments{"ebm", action, "--device", "cpu", "--quiet"} + arguments);
    expect_fine(outcome);
    return outcome.out;
  };
  const Arguments network = {"--width", "8", "--levels", "2", "--blocks", "1"};
  const Arguments training = {"--steps",     "10", "--batch",        "16", "--evaluate-every", "10",
                              "--look-rows", "4",  "--look-samples", "4"};
  ebm("fit", Arguments{"--data", mnist, "--out", "m.safetensors"} + network + training);
  const auto report = nlohmann::json::parse(
      ebm("eval", {"--model", "m.safetensors", "--data", mnist, "--rows", "20", "--nodes", "4",
                   "--flow-steps", "2", "--format", "json"}));
  EXPECT_EQ(report["images"], 20);
  const auto bits = [&](const char* figure) { return report[figure]["value"].get<double>(); };
  const double noise = bits("noise_model");
  EXPECT_NEAR(noise, 2.01, 4 * report["noise_model"]["standard_error"].get<double>());
  for (const char* figure :
       {"direct", "corrected", "direct_exact", "arc", "flow", "flow_by_variance"}) {
    EXPECT_NEAR(bits(figure), noise, 0.1) << figure;
    EXPECT_NE(bits(figure), noise) << figure;
  }
  const Arguments by_flow = {"--flow-steps", "2"};
  const Arguments by_ais = {"--nodes",     "2", "--anneal-steps", "2",
                            "--leapfrogs", "1", "--pilot-steps",  "1"};
  for (const std::string way : {"flow", "ais"}) {
    const auto told = nlohmann::json::parse(
        ebm("sample", Arguments{"--model", "m.safetensors", "--out", way + ".png", "--by", way,
                                "--count", "2", "--format", "json"} +
                          (way == "flow" ? by_flow : by_ais)));
    EXPECT_EQ(told["images"], 2);
    EXPECT_EQ(told.contains("acceptance"), way == "ais");
    EXPECT_TRUE(directory.read(way + ".png").starts_with("\x89PNG")) << way;
  }
  // The same noise for n and 2n temperatures: only log Z parts them.
  const auto annealed = nlohmann::json::parse(ebm(
      "eval",
      Arguments{"--model", "m.safetensors", "--data", mnist, "--rows", "4", "--anneal",
                "--anneal-rows", "2", "--chains", "2", "--flow-steps", "1", "--format", "json"} +
          by_ais));
  const auto ais = [&](const char* run) {
    const auto& found = annealed[run];
    return found["ais"]["value"].get<double>() -
           found["log_normaliser"]["value"].get<double>() / (784 * std::log(2.0));
  };
  EXPECT_NEAR(ais("annealed"), ais("annealed_doubled"), 1e-6);
  const Outcome table =
      run_tool(directory, {"ebm", "sample", "--model", "m.safetensors", "--out", "s.csv"});
  EXPECT_EQ(table.code, 2);
  expect_contains(table.err, {"s.csv", ".png"});
  const Outcome one = run_tool(directory, {"ebm", "eval", "--model", "m.safetensors", "--data",
                                           mnist, "--rows", "1", "--anneal"});
  EXPECT_EQ(one.code, 2);
  expect_contains(one.err, {"--anneal", "--rows"});
  const Outcome info = run_tool(directory, {"info", "m.safetensors"});
  expect_fine(info);
  expect_contains(info.out,
                  {"velocity from the noise model gaussian", "10", ", flow ", "written by"});
  const Arguments sample = {"ebm",   "sample",   "--model", "m.safetensors",
                            "--out", "late.png", "--count", "2"};
  for (const Arguments& way : {Arguments{"--by", "ais", "--anneal-steps", "1000000"},
                               Arguments{"--by", "flow", "--flow-steps", "1000000"}}) {
    Process endless(directory, sample + way);
    endless.interrupt();
    const Outcome interrupted = endless.wait();
    EXPECT_EQ(interrupted.code, 130) << interrupted.err;
    EXPECT_FALSE(std::filesystem::exists(directory.path("late.png")));
  }
}

/// One line of the log a look, and all of them in the model's record. A fresh start in between,
/// given up at once, takes nothing away.
TEST(Ebm, AFitThatGoesOnKeepsItsEarlierLooks) {
  const char* data = std::getenv("DRE_DATA");
  if (data == nullptr) GTEST_SKIP() << "DRE_DATA is not set";
  const Directory directory;
  const std::string mnist = std::string(data) + "/mnist";
  expect_fine(run_tool(directory, {"flow", "fit", "--data", mnist, "--density", "gaussian",
                                   "--draws", "1", "--out", "noise.safetensors"}));
  const Arguments files = {"--data", mnist, "--noise-model", "noise.safetensors", "--out", "m"};
  const Arguments training = {"--objective", "nce", "--width", "8", "--groups",         "8",
                              "--steps",     "400", "--batch", "4", "--evaluate-every", "80",
                              "--look-rows", "4"};
  const Arguments fit =
      Arguments{"ebm", "fit", "--device", "cpu", "--quiet", "--format", "json"} + files + training;
  Process process(directory, fit);
  wait_for_text(directory, "m.log.jsonl");
  process.interrupt();
  ASSERT_EQ(process.wait().code, 130);
  const std::string before = directory.read("m.log.jsonl");
  ASSERT_FALSE(before.empty());
  Process fresh(directory, fit);
  fresh.interrupt();
  ASSERT_EQ(fresh.wait().code, 130);
  for (const char* file : {"m.log.jsonl", "m.checkpoint"})
    std::filesystem::rename(directory.path(file + std::string(".before")), directory.path(file));
  EXPECT_EQ(directory.read("m.log.jsonl"), before);
  const Outcome other = run_tool(directory, fit + Arguments{"--resume", "--seed", "1"});
  EXPECT_EQ(other.code, 2);
  expect_contains(other.err, {"--seed 0", "this one has 1"});
  const Outcome outcome = run_tool(directory, fit + Arguments{"--resume"});
  expect_fine(outcome);
  const auto record = nlohmann::json::parse(outcome.out);
  std::string looks;
  for (const auto& look : record["looks"]) {
    looks += look.dump() + "\n";
    EXPECT_FALSE(look["validation"].contains("corrected"));  // found after training
  }
  EXPECT_TRUE(looks.starts_with(before));
  EXPECT_GT(looks.size(), before.size());
  EXPECT_EQ(looks, directory.read("m.log.jsonl"));
  // The file holds nothing of the clock, and where its images and weights come from.
  const auto saved =
      nlohmann::json::parse(run_tool(directory, {"info", "m", "--format", "json"}).out)["record"];
  EXPECT_EQ(saved.dump().find("seconds"), std::string::npos);
  for (const char* part : {"seed", "device", "threads", "origin"})
    EXPECT_TRUE(saved.contains(part)) << part;
  // A classifier has no flow to draw by.
  const Arguments sample = {"ebm", "sample", "--model", "m", "--out", "s.png", "--count", "2"};
  const Outcome by_flow = run_tool(directory, sample);
  EXPECT_EQ(by_flow.code, 2);
  expect_contains(by_flow.err, {"'nce'", "--by ais"});
  expect_fine(run_tool(directory, sample + Arguments{"--by", "ais", "--anneal-steps", "2",
                                                     "--leapfrogs", "1", "--pilot-steps", "1"}));
  const Outcome flow_steps = run_tool(
      directory, {"ebm", "eval", "--model", "m", "--data", "nowhere", "--flow-steps", "2"});
  EXPECT_EQ(flow_steps.code, 2);
  expect_contains(flow_steps.err, {"--flow-steps", "'nce'", "no flow"});
}

TEST(Ebm, RefusesOptionsThatWouldDoNothing) {
  const Directory directory;
  const auto refused = [&](const std::string& action, const Arguments& arguments) {
    const Arguments files = {
        "ebm", action, "--model", "nowhere", action == "eval" ? "--data" : "--out", "s.png"};
    const Outcome outcome = run_tool(directory, files + arguments);
    EXPECT_EQ(outcome.code, 2) << outcome.err;
    return outcome.err;
  };
  expect_contains(refused("eval", {"--chains", "7"}), {"--chains", "--anneal"});
  expect_contains(refused("eval", {"--no-anneal-doubled"}), {"--no-anneal-doubled", "--anneal;"});
  expect_contains(refused("sample", {"--anneal-steps", "5"}), {"--anneal-steps", "--by ais"});
  expect_contains(refused("sample", {"--by", "ais", "--flow-steps", "5"}),
                  {"--flow-steps", "--by flow"});
  const auto refused_fit = [&](const std::string& objective, const Arguments& more) {
    const Outcome outcome = run_tool(directory, Arguments{"ebm", "fit", "--data", "nowhere",
                                                          "--out", "m", "--objective", objective} +
                                                    more);
    EXPECT_EQ(outcome.code, 2) << outcome.err;
    return outcome.err;
  };
  for (const std::string objective : {"time", "joint", "conditional", "nce", "tre"})
    for (const Arguments& option :
         {Arguments{"--levels", "2"}, Arguments{"--blocks", "1"}, Arguments{"--no-pixel-head"}})
      expect_contains(refused_fit(objective, option), {option[0], "--objective velocity"});
  for (const std::string objective : {"velocity", "time", "joint", "conditional", "nce"})
    for (const Arguments& option : {Arguments{"--bridges", "2"}, Arguments{"--waymarks", "angles"}})
      expect_contains(refused_fit(objective, option), {option[0], "--objective tre"});
  // What --print-config prints holds all of them, and can be given back.
  directory.write("all.json", run_tool(directory, {"ebm", "sample", "--print-config"}).out);
  const Outcome given = run_tool(
      directory, {"ebm", "sample", "--config", "all.json", "--model", "nowhere", "--out", "s.png"});
  EXPECT_EQ(given.code, 3) << given.err;
  expect_contains(given.err, {"nowhere"});
}

TEST(Ebm, RefusesOptionsThatDoNotGoTogetherBeforeAnythingIsRead) {
  const Directory directory;
  const auto refused = [&](const Arguments& arguments) {
    const Outcome outcome =
        run_tool(directory, Arguments{"ebm", "fit", "--data", "nowhere", "--out", "m.safetensors"} +
                                arguments);
    EXPECT_EQ(outcome.code, 2) << outcome.err;
    return outcome.err;
  };
  expect_contains(refused({"--steps", "0"}), {"noise model"});
  expect_contains(refused({"--patience", "5"}), {"early stopping"});
  expect_contains(refused({"--weight-decay", "0.1"}), {"adamw"});
  expect_contains(refused({"--matching", "boundary"}), {"time and joint", "velocity"});
  expect_contains(refused({"--times", "history"}), {"conditional", "velocity"});
  expect_contains(refused({"--objective", "time", "--width", "8"}), {"width 8", "32", "--groups"});
  expect_contains(refused({"--objective", "time", "--bridge", "images"}), {"--bridge latent"});
}

}  // namespace
}  // namespace dre::testing
