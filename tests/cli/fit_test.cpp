#include <nlohmann/json.hpp>

#include "tests/cli/tool.h"

namespace dre::testing {
namespace {

using Json = nlohmann::json;

double root_mean_square(const Rows& a, const Rows& b) {
  EXPECT_EQ(a.size(), b.size());
  double total = 0;
  for (size_t i = 0; i < a.size(); ++i) total += (a[i][0] - b[i][0]) * (a[i][0] - b[i][0]);
  return std::sqrt(total / static_cast<double>(a.size()));
}

TEST(Fit, LearnsTheLogRatioOfGaussians) {
  const Directory directory;
  write_sides(directory);
  const Outcome fitted = run_tool(directory, fit_with(two_files()));
  expect_fine(fitted);
  expect_contains(fitted.out, {"log(numerator / denominator)", "a.csv, 400 rows", "b.csv, 400 rows",
                               "2: x0, x1", "held-out loss", "KL(num||den)", "KL(den||num)",
                               "E_den[r]", "E_num[1/r]", "m.safetensors"});
  // log r = 0.7 (x0 + x1) - 0.49. Means of 400 rows are 0.05 off, which moves log r by 0.05 in each
  // of four numbers; five times that is a wrong model, as is the opposite direction.
  Rows exact = normal_rows(400, 2, 0.7, 1);
  for (auto& row : exact) row = {0.7 * (row[0] + row[1]) - 0.49};
  EXPECT_LT(root_mean_square(rate(directory, "a.csv"), exact), 0.5);
}

TEST(Fit, TheSameSeedGivesTheSameBytesAndAnotherDoesNot) {
  const Directory directory;
  write_sides(directory);
  expect_fine(run_tool(directory, fit_with(two_files(), "m1.safetensors")));
  expect_fine(run_tool(directory, fit_with(two_files(), "m2.safetensors")));
  expect_fine(
      run_tool(directory, fit_with(two_files() + Arguments{"--seed", "5"}, "m3.safetensors")));
  const std::string first = directory.read("m1.safetensors");
  EXPECT_FALSE(first.empty());
  EXPECT_TRUE(first == directory.read("m2.safetensors"));
  EXPECT_FALSE(first == directory.read("m3.safetensors"));
}

TEST(Fit, FormatsAndColumnOrderDoNotMatter) {
  const Directory directory;
  const Arguments free = {"--reference", "none"};  // so that the networks take part
  write_sides(directory);
  Rows swapped = normal_rows(400, 2, 0, 2);
  directory.write("b.npy", npy_of(swapped));
  directory.write("b.npz", zip({{"x.npy", npy_of(swapped)}}));
  for (auto& row : swapped) std::swap(row[0], row[1]);
  directory.write("swapped.csv", csv(swapped, "x1,x0"));
  expect_fine(run_tool(directory, fit_with(two_files() + free)));
  const Rows expected = rate(directory, "a.csv"), of_denominator = rate(directory, "b.csv");
  for (const std::string file : {"b.npy", "b.npz", "swapped.csv"}) {
    SCOPED_TRACE(file);
    expect_fine(
        run_tool(directory, fit_with(two_files("a.csv", file) + free, "other.safetensors")));
    EXPECT_EQ(rate(directory, "a.csv", "other.safetensors"), expected);
    EXPECT_EQ(rate(directory, file), of_denominator);
  }
}

TEST(Fit, OneFileWithADomainColumnEqualsTwoFiles) {
  const Directory directory;
  write_sides(directory);
  Rows both;
  const Rows a = normal_rows(400, 2, 0.7, 1), b = normal_rows(400, 2, 0, 2);
  for (size_t i = 0; i < a.size(); ++i) {
    both.push_back({0, b[i][0], b[i][1]});
    both.push_back({1, a[i][0], a[i][1]});
  }
  directory.write("both.csv", csv(both, "side,x0,x1"));
  expect_fine(run_tool(directory, fit_with(two_files())));
  const Arguments one_file = {"--data", "both.csv", "--domain-column", "side"};
  expect_fine(run_tool(directory, fit_with(one_file, "one.safetensors")));
  EXPECT_EQ(rate(directory, "a.csv", "one.safetensors"), rate(directory, "a.csv"));
  expect_fine(run_tool(
      directory, fit_with(one_file + Arguments{"--numerator-value", "0"}, "inverse.safetensors")));
  // The other direction: an independent fit of -log r, which the references alone make exact up to
  // what the networks add.
  Rows negative = rate(directory, "a.csv", "inverse.safetensors");
  for (auto& row : negative) row[0] = -row[0];
  EXPECT_LT(root_mean_square(negative, rate(directory, "a.csv")), 0.2);
}

TEST(Fit, WeightsCountAsRepeatedRows) {
  const Directory directory;
  write_sides(directory);
  Rows rows = normal_rows(400, 2, 0.7, 1), weighted, repeated;
  for (size_t i = 0; i < rows.size(); ++i) {
    const int times = rows[i][0] > 0.7 ? 3 : 1;
    weighted.push_back({rows[i][0], rows[i][1], static_cast<double>(times)});
    for (int k = 0; k < times; ++k) repeated.push_back({rows[i][0], rows[i][1], 1});
  }
  Rows plain = normal_rows(400, 2, 0, 2);
  for (auto& row : plain) row.push_back(1);
  directory.write("weighted.csv", csv(weighted, "x0,x1,w"));
  directory.write("repeated.csv", csv(repeated, "x0,x1,w"));
  directory.write("plain.csv", csv(plain, "x0,x1,w"));
  const auto fit = [&](const std::string& file, const Arguments& more) {
    expect_fine(run_tool(directory, fit_with(two_files(file, "plain.csv") + more)));
    return rate(directory, "a.csv");
  };
  const Rows by_weight = fit("weighted.csv", {"--weight-column", "w"});
  const Rows by_repetition = fit("repeated.csv", {"--drop", "w"});
  // The weights move a mean by 0.4. What is left between the two is the split and how sure the
  // reference is of 400 or 800 rows.
  EXPECT_LT(root_mean_square(by_weight, by_repetition), 0.1);
  EXPECT_GT(root_mean_square(by_weight, fit("weighted.csv", {"--drop", "w"})), 0.2);
}

TEST(Fit, ThePrintedConfigurationGivesTheSameModel) {
  const Directory directory;
  write_sides(directory);
  const Arguments arguments = fit_with(two_files() + Arguments{"--method", "nce"});
  expect_fine(run_tool(directory, arguments));
  const std::string model = directory.read("m.safetensors");
  const Outcome printed = run_tool(directory, arguments + Arguments{"--print-config"});
  expect_fine(printed);
  EXPECT_EQ(Json::parse(printed.out)["method"], "nce");
  directory.write("config.json", printed.out);
  std::filesystem::remove(directory.path("m.safetensors"));
  expect_fine(run_tool(directory, {"fit", "--config", "config.json", "--quiet"}));
  EXPECT_TRUE(directory.read("m.safetensors") == model);
  // Flags override the file.
  const Outcome other = run_tool(directory, {"fit", "--config", "config.json", "--steps", "7",
                                             "--bridge", "auto", "--print-config"});
  EXPECT_EQ(Json::parse(other.out)["steps"], 7);
  EXPECT_EQ(Json::parse(other.out)["width"], 32);
}

TEST(Fit, WarningsGoToStandardErrorUnlessQuietAndIntoTheModel) {
  const Directory directory;
  Rows a = normal_rows(400, 2, 0.7, 1), b = normal_rows(400, 2, 0, 2);
  for (auto* rows : {&a, &b})
    for (auto& row : *rows) row.push_back(4);
  directory.write("a.csv", csv(a, "x0,x1,version"));
  directory.write("b.csv", csv(b, "x0,x1,version"));
  const Arguments loud = Arguments{"fit", "--out", "m.safetensors", "--steps", "0"} + two_files();
  const Outcome warned = run_tool(directory, loud);
  EXPECT_EQ(warned.code, 0);
  expect_contains(warned.err,
                  {"dre fit: warning: column version is constant on both sides and left "
                   "out [constant-column]\n"});
  expect_fine(run_tool(directory, loud + Arguments{"--quiet"}));
  const Outcome info = run_tool(directory, {"info", "m.safetensors"});
  expect_fine(info);
  expect_contains(info.out, {"2: x0, x1", "left out", "version", "[constant-column]",
                             "zscore of x0, x1", "written by"});
}

/// What a fresh classifier and the support say, with rows enough to ask and without.
TEST(Fit, TellsWhatReweightingLeaves) {
  const Directory directory;
  directory.write("a.csv", csv(normal_rows(3000, 2, 0.3, 1), "x0,x1"));
  directory.write("b.csv", csv(normal_rows(3000, 2, 0, 2), "x0,x1"));
  const Arguments no_network = {"--method", "nce", "--steps", "0", "--out", "m.safetensors"};
  const Outcome fitted = run_tool(directory, Arguments{"fit"} + two_files() + no_network);
  expect_fine(fitted);
  expect_contains(fitted.out, {"reweighted    a fresh classifier", "(should be 0.5)",
                               "support       outside of the other side's: 0 % of the numerator"});
  const Outcome info = run_tool(directory, {"info", "m.safetensors", "--format", "json"});
  const Json auc = Json::parse(info.out)["record"]["diagnostics"]["auc_after_reweighting"];
  EXPECT_NEAR(auc["value"].get<double>(), 0.5, 4 * auc["standard_error"].get<double>());
  write_sides(directory, 60);
  const Outcome few = run_tool(directory, Arguments{"fit"} + two_files() + no_network);
  expect_fine(few);
  expect_contains(few.out, {"too few rows are left to ask a fresh classifier"});
  EXPECT_EQ(few.out.find("nan"), std::string::npos);
}

/// Ctrl-C in the last minute, while the fresh classifier learns, does not cost the model.
TEST(Fit, AStopAfterTrainingKeepsTheModel) {
  const Directory directory;
  directory.write("a.csv", csv(normal_rows(20000, 2, 0.3, 1), "x0,x1"));
  directory.write("b.csv", csv(normal_rows(20000, 2, 0, 2), "x0,x1"));
  Process process(directory,
                  Arguments{"fit"} + two_files() +
                      Arguments{"--method", "nce", "--steps", "0", "--out", "m.safetensors"});
  process.interrupt();
  expect_fine(process.wait());
  const Outcome info = run_tool(directory, {"info", "m.safetensors", "--format", "json"});
  expect_fine(info);
  EXPECT_FALSE(Json::parse(info.out)["record"]["diagnostics"].contains("auc_after_reweighting"));
}

TEST(Fit, JsonResultAndModelInfoHoldEverything) {
  const Directory directory;
  write_sides(directory);
  const Outcome fitted = run_tool(directory, fit_with(two_files() + Arguments{"--format", "json"}));
  expect_fine(fitted);
  const Json result = Json::parse(fitted.out);
  EXPECT_GT(result["seconds"].get<double>(), 0);
  EXPECT_EQ(result["data"]["numerator"]["rows"], 400);
  EXPECT_EQ(result["data"]["numerator"]["crc32"].get<std::string>().size(), 8u);
  EXPECT_EQ(result["options"]["steps"], 60);
  const Json& found = result["diagnostics"];
  // KL of N(0.7, I) and N(0, I) in two dimensions: 0.49.
  EXPECT_NEAR(found["kl_numerator_denominator"]["value"], 0.49, 0.25);
  EXPECT_NEAR(found["ratio_on_denominator"]["mean"]["value"], 1, 0.4);
  EXPECT_LT(found["outside"]["numerator"], 0.1);
  EXPECT_TRUE(found["auc_after_reweighting"]["value"].is_null());  // too few rows
  const Outcome info = run_tool(directory, {"info", "m.safetensors", "--format", "json"});
  expect_fine(info);
  const Json model = Json::parse(info.out);
  EXPECT_EQ(model["direction"], "log(numerator / denominator)");
  EXPECT_EQ(model["columns"], Json({"x0", "x1"}));
  EXPECT_EQ(model["record"]["diagnostics"], found);
  EXPECT_FALSE(model["record"].contains("seconds"));
  EXPECT_EQ(model["record"]["training"][0]["curve"].back()[0], 60);
}

TEST(Fit, ReadsOneSideFromStandardInput) {
  const Directory directory;
  write_sides(directory);
  expect_fine(run_tool(directory, fit_with(two_files())));
  expect_fine(run_tool(directory, fit_with(two_files("-"), "stdin.safetensors"),
                       {directory.read("a.csv"), 0, ".std"}));
  EXPECT_EQ(rate(directory, "a.csv", "stdin.safetensors"), rate(directory, "a.csv"));
}

}  // namespace
}  // namespace dre::testing
