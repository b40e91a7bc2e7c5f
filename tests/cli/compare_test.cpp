/// dre compare, dre weights and dre mi as their users call them.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "tests/cli/tool.h"

namespace dre::testing {
namespace {

/// The reference alone, so that a call takes a second.
Arguments quick(const std::string& command, const Arguments& more) {
  return Arguments{command, "--quiet", "--steps", "0", "--threads", "1"} + more;
}

TEST(Compare, GivesEveryFormatAndItsGateFails) {
  const Directory directory;
  write_sides(directory);
  const Arguments call = quick("compare", two_files());
  const Outcome words = run_tool(directory, call + Arguments{"--report", "r.html"});
  EXPECT_EQ(words.code, 0) << words.err;
  expect_contains(words.out, {"The tables differ", "KL(num||den)", "p-value", "x0"});
  expect_contains(directory.read("r.html"), {"<!DOCTYPE html>", "The tables differ"});
  const Outcome pdf = run_tool(directory, call + Arguments{"--report", "r.pdf"});
  EXPECT_EQ(pdf.code, 2);
  expect_contains(pdf.err, {"--report r.pdf must end in .html"});

  const Outcome json =
      run_tool(directory, call + Arguments{"--format", "json", "--fail-if", "kl > 0.1"});
  EXPECT_EQ(json.code, 5);
  expect_contains(json.err, {"gate failed: kl > 0.1"});
  const auto result = nlohmann::json::parse(json.out);
  EXPECT_EQ(result["schema_version"], 1);
  EXPECT_NEAR(result["kl"]["value"].get<double>(), 0.49, 0.2);

  expect_fine(run_tool(directory, call + Arguments{"--output", "o.csv", "--fail-if", "kl > 5"}));
  EXPECT_TRUE(directory.read("o.csv").starts_with("name,value,low,high\nkl,"));
  expect_fine(run_tool(directory, call + Arguments{"--format", "csv", "--output", "o.json"}));
  EXPECT_TRUE(directory.read("o.json").starts_with("name,value,low,high\nkl,"));
}

/// Those of b.csv, each with a weight of 1 to 5.
Rows weighted_rows() {
  Rows rows = normal_rows(400, 2, 0, 2);
  for (size_t i = 0; i < rows.size(); ++i) rows[i].push_back(1 + static_cast<double>(i % 5));
  return rows;
}

/// Names are cut with a mark, between letters, and stand in one column.
TEST(Compare, TellsLongNamesApart) {
  const Directory directory;
  const std::string long_one = "monthly income before taxes, ",
                    letters = "größe der längsten straße";
  const std::string header = "\"" + long_one + "2023\",\"" + long_one + "2024\"," + letters;
  directory.write("a.csv", csv(normal_rows(100, 3, 0.7, 1), header));
  directory.write("b.csv", csv(normal_rows(100, 3, 0, 2), header));
  const Outcome outcome = run_tool(directory, quick("compare", two_files()));
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  expect_contains(outcome.out, {long_one + "2023 number ", long_one + "2024 number ",
                                "column" + std::string(27, ' ') + " kind ",
                                letters + std::string(8, ' ') + " number "});
}

/// Standard input is read once, so that only its open reader knows its columns.
TEST(Compare, StandardInputMayHaveNoWeights) {
  const Directory directory;
  write_sides(directory);
  directory.write("weighted.csv", csv(weighted_rows(), "x0,x1,w"));
  const auto compare = [&](const std::string& numerator, const std::string& denominator,
                           const Arguments& more) {
    return run_tool(directory,
                    quick("compare", two_files(numerator, denominator) + more +
                                         Arguments{"--format", "csv", "--weight-column", "w"}),
                    {directory.read("a.csv"), 0, ".std"});
  };
  for (const Arguments& more : {Arguments{}, Arguments{"--columns", "x0"}}) {
    const Outcome piped = compare("-", "weighted.csv", more);
    EXPECT_EQ(piped.code, 0) << piped.err;
    EXPECT_EQ(piped.out, compare("a.csv", "weighted.csv", more).out);
  }
  const Outcome none = compare("-", "b.csv", {});
  EXPECT_EQ(none.code, 3);
  expect_contains(none.err, {"standard input has no weight column 'w'"});
}

TEST(Compare, SaysThatANumberThatCouldNotBeComputedFails) {
  const Outcome help = run_tool(Directory(), {"compare", "--help"});
  std::string words;  // without the breaks of lines
  std::istringstream in(help.out);
  for (std::string word; in >> word;) words += word + " ";
  expect_contains(words, {"a number that could not be computed counts as failed"});
}

TEST(Compare, RefusesWhatItCannotUse) {
  const Directory directory;
  write_sides(directory);
  const Outcome gate =
      run_tool(directory, quick("compare", two_files() + Arguments{"--fail-if", "k > 1"}));
  EXPECT_EQ(gate.code, 2);
  expect_contains(gate.err, {"dre compare: ", "'k'", "kl"});
  directory.write("twice.csv", "x0,x0\n1,2\n");
  const Outcome twice = run_tool(directory, quick("compare", two_files("twice.csv", "twice.csv")));
  EXPECT_EQ(twice.code, 3);
  expect_contains(twice.err, {"columns 1 and 2 are both called 'x0'"});
}

TEST(Weights, OneForEveryRow) {
  const Directory directory;
  write_sides(directory);
  expect_fine(run_tool(directory, quick("weights", two_files() + Arguments{"--output", "w.csv",
                                                                           "--report", "w.html"})));
  expect_contains(directory.read("w.html"), {"<!DOCTYPE html>", "Closure", "x0"});
  const Rows weights = numbers(directory.read("w.csv"));
  ASSERT_EQ(weights.size(), 400);
  double sum = 0;
  for (const auto& row : weights) sum += row[0];
  EXPECT_NEAR(sum, 400, 1e-6);
  expect_fine(run_tool(directory, quick("weights", two_files() + Arguments{"--output", "w.npy"})));
  EXPECT_TRUE(directory.read("w.npy").starts_with("\x93NUMPY"));
  const Outcome loud = run_tool(directory, {"weights", "--steps", "0", "--numerator", "a.csv",
                                            "--denominator", "b.csv", "--output", "w.csv"});
  expect_contains(loud.err, {"Pareto k", "closure", "x0"});
  EXPECT_EQ(loud.out, "");
}

/// What the rows are worth, and how the weights were scaled, is told of those that are written.
TEST(Weights, TellWhatIsWritten) {
  const Directory directory;
  write_sides(directory);
  const Outcome outcome =
      run_tool(directory, Arguments{"weights", "--steps", "0", "--output", "w.csv", "--report",
                                    "w.html", "--normalize", "sum1"} +
                              two_files());
  double sum = 0, squares = 0;
  for (const auto& row : numbers(directory.read("w.csv"))) {
    sum += row[0];
    squares += row[0] * row[0];
  }
  const int64_t worth = static_cast<int64_t>(sum * sum / squares);
  const std::string effective = std::to_string(worth);
  expect_contains(outcome.err, {"worth " + effective + " of 400 rows", "normalize sum1"});
  expect_contains(directory.read("w.html"), {"are worth " + effective, "normalize sum1"});
  const Arguments json = {"--normalize", "sum1", "--format", "json"};
  const Outcome told =
      run_tool(directory, quick("weights", two_files() + Arguments{"--output", "w.csv"} + json));
  expect_fine(told);
  const auto facts = nlohmann::json::parse(told.out);
  EXPECT_EQ(static_cast<int64_t>(facts["weights"]["effective_rows"]), worth);
  expect_contains(facts["how"], {"normalize sum1"});
  EXPECT_EQ(facts["columns"].size(), 2);
  const Outcome both = run_tool(directory, quick("weights", two_files() + json));
  EXPECT_EQ(both.code, 2);
  expect_contains(both.err, {"--format json", "--output FILE"});
}

TEST(Weights, ThatAreNotNormalisedKeepTheYieldOfTheFile) {
  const Directory directory;
  write_sides(directory);
  Rows rows = weighted_rows();
  directory.write("yields.csv", csv(rows, "x0,x1,w"));
  for (auto& row : rows) row[2] = 0.25;
  directory.write("equal.csv", csv(rows, "x0,x1,w"));
  const Arguments none = {"--weight-column", "w",           "--normalize", "none",
                          "--output",        "weights.csv", "--no-smooth"};
  const auto yield = [](const std::string& file, size_t i) {
    return file == "equal.csv" ? 0.25 : 1 + static_cast<double>(i % 5);
  };
  for (const std::string file : {"yields.csv", "equal.csv"}) {
    expect_fine(run_tool(directory, quick("weights", two_files("a.csv", file) + none)));
    const Rows weights = numbers(directory.read("weights.csv"));
    ASSERT_EQ(weights.size(), rows.size());
    for (size_t i = 0; i < weights.size(); ++i)
      EXPECT_NEAR(weights[i][0] / std::exp(weights[i][1]), yield(file, i), 1e-9);
  }
}

TEST(Weights, OfTheSourceNoRowMayBeLeftOut) {
  const Directory directory;
  write_sides(directory);
  directory.write("few.csv", csv(normal_rows(200, 2, 0, 3), "x0,x1"));
  const Arguments most = {"--output", "w.csv", "--max-rows", "300"};
  const Outcome source = run_tool(directory, quick("weights", two_files() + most));
  EXPECT_EQ(source.code, 3);
  expect_contains(source.err, {"denominator", "--max-rows 300"});
  expect_fine(run_tool(directory, quick("weights", two_files("a.csv", "few.csv") + most)));
  EXPECT_EQ(numbers(directory.read("w.csv")).size(), 200);
}

TEST(Outputs, ThatCannotBeWrittenAreRefusedBeforeTheWork) {
  const Directory directory;
  write_sides(directory);
  const Arguments no_work = {"--steps", "100000000"};
  const Outcome weights =
      run_tool(directory, Arguments{"weights", "--output", "w.csv.gz"} + two_files() + no_work);
  EXPECT_EQ(weights.code, 2);
  expect_contains(weights.err, {"w.csv.gz", ".npy"});
  const Arguments mi = {"mi", "a.csv", "--x", "x0", "--y", "x1", "--pointwise"};
  EXPECT_EQ(run_tool(directory, mi + Arguments{"p.txt"} + no_work).code, 2);
  const Outcome sampled =
      run_tool(directory, mi + Arguments{"p.csv", "--max-rows", "300"} + no_work);
  EXPECT_EQ(sampled.code, 3);
  expect_contains(sampled.err, {"--pointwise", "--max-rows 300"});
}

TEST(Information, QuietPrintsOneNumberAndNothingElse) {
  const Directory directory;
  Rows rows = normal_rows(600, 2, 0, 5);
  for (auto& row : rows) row[1] = 0.6 * row[0] + 0.8 * row[1];
  directory.write("t.csv", csv(rows, "x,y"));
  const std::string names = "x,y\n", all = directory.read("t.csv");
  directory.write("numbers.csv", all.substr(names.size()));
  const Outcome nats = run_tool(directory, quick("mi", {"t.csv", "1", "1"}));
  expect_fine(nats);
  EXPECT_NEAR(std::stod(nats.out), 0.2231, 0.1);
  EXPECT_EQ(std::count(nats.out.begin(), nats.out.end(), '\n'), 1);
  EXPECT_EQ(run_tool(directory, quick("mi", {"numbers.csv", "1", "1"})).out, nats.out);
  directory.write("c.json", R"({"data": "nowhere.csv"})");
  EXPECT_EQ(run_tool(directory, quick("mi", {"t.csv", "1", "1", "--config", "c.json"})).out,
            nats.out);
  const Outcome bits = run_tool(directory, quick("mi", {"t.csv", "--x", "x", "--y", "y", "--unit",
                                                        "bits", "--pointwise", "p.csv"}));
  expect_fine(bits);
  EXPECT_NEAR(std::stod(bits.out) * 0.693147, std::stod(nats.out), 1e-6);
  EXPECT_EQ(numbers(directory.read("p.csv")).size(), 600);
}

TEST(Information, OfCategoriesEndsAtTheirEntropy) {
  const Directory directory;
  std::string table = "k,name\n";
  for (int i = 0; i < 600; ++i) {
    const std::string level(1, "aaabcd"[i % 6]);
    table += level + ",n" + level + "\n";
  }
  directory.write("t.csv", table);
  const Arguments columns = {"t.csv", "--x", "k", "--y", "name"};
  const double entropy = 0.5 * std::log(2) + 0.5 * std::log(6);
  EXPECT_NEAR(std::stod(run_tool(directory, quick("mi", columns)).out), entropy, 1e-9);
  const auto json = nlohmann::json::parse(
      run_tool(directory, quick("mi", columns + Arguments{"--format", "json", "--unit", "bits"}))
          .out);
  for (const char* one : {"value", "bound"})
    EXPECT_NEAR(json[one].get<double>(), entropy / std::log(2), 1e-9) << one;
  EXPECT_NEAR(json["high"].get<double>(), 2, 1e-9);
  const Outcome text = run_tool(directory, Arguments{"mi", "--steps", "0"} + columns);
  expect_contains(text.out, {"1.386] nats", "bound", "entropy"});
}

}  // namespace
}  // namespace dre::testing
