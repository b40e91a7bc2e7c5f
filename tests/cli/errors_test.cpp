/// Everything that can be wrong with a call: exit code, one clear line, and no file left behind.
#include <algorithm>

#include "tests/cli/tool.h"

namespace dre::testing {
namespace {

struct Bad {
  std::string name;
  Arguments arguments;
  int code;
  std::vector<std::string> fragments;
};

void write_bad_files(const Directory& d) {
  write_sides(d);
  const std::string good = d.read("a.csv");
  d.write("empty.csv", "");
  d.write("header.csv", "x0,x1\n");
  d.write("ragged.csv", "x0,x1\n1,2\n3\n");
  d.write("infinite.csv", good + "inf,1\n");
  d.write("missing.csv", good + "1,NA\n");
  d.write("text.csv", good + "1,rome\n");
  d.write("one.csv", "x0,x1\n1,2\n");
  d.write("few.csv", csv(normal_rows(9, 2, 0, 3), "x0,x1"));
  d.write("other.csv", csv(normal_rows(400, 2, 0, 3), "x0,z"));
  d.write("separated.csv", csv(Rows(400, {1, 1}), "x0,x1"));
  d.write("separated2.csv", csv(Rows(400, {2, 1}), "x0,x1"));
  d.write("labels.csv", csv(normal_rows(400, 2, 0, 3), "x0,x1"));
  d.write("cities.csv", "x0,city\n1,rome\n2,oslo\n");
  d.write("three.csv", "x0,city\n1,rome\n2,oslo\n3,bonn\n");
  d.write("negative.csv", "x0,w\n1,1\n2,-1\n");
  d.write("unknown.txt", good);
  d.write("damaged.npy", npy_of(normal_rows(40, 2, 0, 3)).substr(0, 300));
  d.write("damaged.npz", zip({{"x.npy", npy_of(normal_rows(40, 2, 0, 3))}}).substr(0, 300));
  d.write("stepz.json", R"({"stepz": 3})");
  d.write("twice.json", R"({"steps": 3, "steps": 4})");
  d.write("range.json", R"({"steps": -3})");
  d.write("broken.json", "{");
  d.write("list.json", "[1]");
  d.write("huge.json", R"({"rate": 1e400})");
}

Arguments fit_side(const std::string& numerator) { return fit_with(two_files(numerator)); }

std::vector<Bad> bad_fits() {
  const Arguments fit = fit_with(two_files());
  const auto with = [&](const Arguments& more) { return fit + more; };
  const auto one_file = [](const std::string& file, const Arguments& more = {}) {
    return fit_with(Arguments{"--data", file, "--domain-column", "city"} + more);
  };
  return {
      {"no such file", fit_side("nope.csv"), 3, {"nope.csv", "No such file"}},
      {"empty file", fit_side("empty.csv"), 3, {"empty.csv is empty"}},
      {"header only", fit_side("header.csv"), 3, {"header.csv has a header but no rows"}},
      {"ragged", fit_side("ragged.csv"), 3, {"ragged.csv: row 2 (line 3) has 1 cell"}},
      {"infinite", fit_side("infinite.csv"), 3, {"infinite.csv: row 401", "'x0'", "infinite"}},
      {"missing",
       fit_with(two_files("missing.csv") + Arguments{"--missing", "error"}),
       3,
       {"missing.csv: row 401", "'x1'", "--missing error", "--drop x1"}},
      {"text", fit_side("text.csv"), 3, {"text.csv: row 401", "'x1'", "'rome'", "--categorical"}},
      {"text in a number",
       fit_with(two_files("text.csv") + Arguments{"--numeric", "x1"}),
       3,
       {"text.csv: row 401", "'x1'", "'rome' is not a number; correct it"}},
      {"one row", fit_side("one.csv"), 3, {"too few rows", "at least 10", "one.csv) has 1;"}},
      {"too few rows", fit_side("few.csv"), 3, {"at least 10 rows a side", "few.csv) has 9"}},
      {"other columns",
       fit_side("other.csv"),
       3,
       {"only other.csv has z", "only b.csv has x1", "--drop"}},
      {"separated",
       fit_with(two_files("separated.csv", "separated2.csv")),
       3,
       {"no value of x0 is on both sides", "infinite"}},
      {"damaged npy", fit_side("damaged.npy"), 3, {"damaged.npy"}},
      {"damaged npz", fit_side("damaged.npz"), 3, {"damaged.npz"}},
      {"unknown ending", fit_side("unknown.txt"), 2, {"unknown.txt", ".csv"}},
      {"both standard input", fit_with(two_files("-", "-")), 2, {"standard input"}},
      {"no denominator", fit_with({"--numerator", "a.csv"}), 2, {"--denominator FILE is missing"}},
      {"no data", fit_with({}), 2, {"--numerator FILE", "--data FILE"}},
      {"no model", Arguments{"fit"} + two_files(), 2, {"--out FILE is missing"}},
      {"--missing keep", with({"--missing", "keep"}), 2, {"--missing must be one of"}},
      {"drop of nothing", with({"--drop", "q"}), 3, {"--drop names column 'q'"}},
      {"no weights", with({"--weight-column", "w"}), 3, {"a.csv has no weight column 'w'"}},
      {"negative weight",
       fit_with(two_files("negative.csv", "negative.csv") + Arguments{"--weight-column", "w"}),
       3,
       {"negative.csv: row 2, column 'w'", "negative"}},
      {"which is the numerator", one_file("cities.csv"), 2, {"oslo, rome", "--numerator-value"}},
      {"three values", one_file("three.csv"), 3, {"a third value"}},
      {"no directory", fit_with(two_files(), "nope/m.safetensors"), 3, {"nope", "does not exist"}},
      {"a directory", fit_with(two_files(), "."), 3, {"it is a directory"}},
      {"unknown flag", with({"--metod", "nce"}), 2, {"'--metod'", "--method", "--help"}},
      {"beginning of a flag", with({"--output", "m"}), 2, {"did you mean --out?"}},
      {"stray word", with({"c.csv"}), 2, {"unexpected argument 'c.csv'", "--numerator FILE"}},
      {"unknown method", with({"--method", "magic"}), 2, {"--method must be one of", "'magic'"}},
      {"unknown bridge", with({"--bridge", "golden"}), 2, {"--bridge must be one of", "'golden'"}},
      {"no number", with({"--classes", "many"}), 2, {"--classes must be a whole number", "many"}},
      {"out of range", with({"--beta1", "1"}), 2, {"--beta1 must be", "less than 1, got 1"}},
      {"twice", with({"--seed", "1", "--seed", "2"}), 2, {"--seed is given 2 times"}},
      {"no value", with({"--seed"}), 2, {"--seed needs one value"}},
      {"unknown format", with({"--format", "xml"}), 2, {"--format", "text, json", "'xml'"}},
      {"no config", with({"--config", "nope.json"}), 3, {"nope.json"}},
      {"unknown key",
       with({"--config", "stepz.json"}),
       2,
       {"stepz.json: ", "'stepz'", "did you mean steps?"}},
      {"key twice", with({"--config", "twice.json"}), 2, {"twice.json", "'steps' is there twice"}},
      {"too large",
       with({"--classes", "1e20"}),
       2,
       {"--classes must be a whole number within 64 bits"}},
      {"config range", with({"--config", "range.json"}), 2, {"range.json: steps must be at least"}},
      {"broken config",
       with({"--config", "broken.json"}),
       2,
       {"broken.json cannot be read as JSON"}},
      {"huge number", with({"--config", "huge.json"}), 2, {"huge.json cannot be read", "1e400"}},
      {"config list", with({"--config", "list.json"}), 2, {"list.json", "JSON object"}},
  };
}

void expect_refusal(const Bad& call, const Outcome& outcome) {
  SCOPED_TRACE(call.name);
  EXPECT_EQ(outcome.code, call.code) << outcome.err;
  EXPECT_EQ(outcome.out, "");
  expect_contains(outcome.err, call.fragments);
  EXPECT_TRUE(outcome.err.starts_with("dre " + call.arguments[0] + ": ")) << outcome.err;
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
}

/// Runs all calls, two at a time as starting the tool takes most of their time; no file may stay.
void expect_refusals(const Directory& directory, const std::vector<Bad>& calls) {
  const RunOptions first{"", 0, ".first"}, second{"", 0, ".second"};
  run_tool(directory, {"--version"}, first);  // makes the files of the streams
  run_tool(directory, {"--version"}, second);
  const auto files = [&] {
    auto names = directory.list();
    std::sort(names.begin(), names.end());
    return names;
  };
  const auto before = files();
  for (size_t i = 0; i < calls.size(); i += 2) {
    Process one(directory, calls[i].arguments, first);
    const bool paired = i + 1 < calls.size();
    if (paired) {
      Process other(directory, calls[i + 1].arguments, second);
      expect_refusal(calls[i + 1], other.wait());
    }
    expect_refusal(calls[i], one.wait());
    EXPECT_EQ(files(), before) << calls[i].name;
  }
}

TEST(Errors, OfFit) {
  const Directory directory;
  write_bad_files(directory);
  expect_refusals(directory, bad_fits());
}

TEST(Errors, OfRatioAndInfo) {
  const Directory directory;
  write_bad_files(directory);
  expect_fine(run_tool(directory, fit_with(two_files())));
  const std::string model = directory.read("m.safetensors");
  directory.write("short.safetensors", model.substr(0, model.size() / 2));
  std::string flipped = model;
  flipped[200] ^= 0x55;
  directory.write("flipped.safetensors", flipped);
  directory.write("foreign.safetensors", little(2, 8) + "{}");
  const auto ratio = [](const std::string& input, const Arguments& more = {},
                        const std::string& file = "m.safetensors") {
    return Arguments{"ratio", "--model", file, "--input", input} + more;
  };
  expect_refusals(
      directory,
      {
          {"missing column",
           ratio("other.csv", {"--output", "o.csv"}),
           3,
           {"other.csv has no column 'x1'"}},
          {"missing value",
           ratio("missing.csv", {"--output", "o.csv"}),
           3,
           {"missing.csv: row 401, column 'x1'"}},
          {"a word where the model has numbers",
           ratio("text.csv", {"--output", "o.csv"}),
           3,
           {"text.csv: row 401", "'rome' is not a number; correct it"}},
          {"no such input", ratio("nope.csv", {"--output", "o.csv"}), 3, {"nope.csv"}},
          {"no such model", ratio("a.csv", {}, "nope.safetensors"), 3, {"nope.safetensors"}},
          {"a table as a model", ratio("a.csv", {}, "a.csv"), 3, {"a.csv"}},
          {"half a model", ratio("a.csv", {}, "short.safetensors"), 3, {"short.safetensors"}},
          {"foreign model",
           ratio("a.csv", {}, "foreign.safetensors"),
           3,
           {"foreign.safetensors is not a dre model"}},
          {"unknown output", ratio("a.csv", {"--output", "o.parquet"}), 2, {"o.parquet"}},
          {"output in nowhere", ratio("a.csv", {"--output", "no/o.csv"}), 3, {"does not exist"}},
          {"full disk", ratio("a.csv", {"--output", "/dev/full"}), 3, {"No space left"}},
          {"path of another method",
           ratio("a.csv", {"--path", "flow", "--output", "o.csv"}),
           2,
           {"flow", "velocity"}},
          {"unknown path", ratio("a.csv", {"--path", "round"}), 2, {"--path must be one of"}},
          {"no model", {"ratio", "--input", "a.csv"}, 2, {"--model FILE is missing"}},
          {"no input", {"ratio", "--model", "m.safetensors"}, 2, {"--input FILE is missing"}},
          {"info of nothing", {"info"}, 2, {"no model file"}},
          {"a name that is no UTF-8", {"info", "b\xe9.csv"}, 2, {"'b?.csv' is not UTF-8 text"}},
          {"numbers of columns in a configuration",
           {"mi", "a.csv", "1", "1", "--print-config"},
           2,
           {"DX and DY", "--x and --y"}},
          {"the file of mi twice", {"mi", "a.csv", "--data", "b.csv"}, 2, {"give the file once"}},
          {"info of half a model", {"info", "short.safetensors"}, 3, {"short.safetensors"}},
          {"info of a changed model", {"info", "flipped.safetensors"}, 3, {"flipped.safetensors"}},
      });
}

TEST(Errors, AFullDiskLeavesNoModel) {
  const Directory directory;
  write_sides(directory);
  const Outcome outcome = run_tool(directory, fit_with(two_files()), {"", 4096, ".std"});
  EXPECT_EQ(outcome.code, 3);
  expect_contains(outcome.err, {"dre fit: cannot write m.safetensors", "no file was left"});
  for (const auto& name : directory.list())
    EXPECT_FALSE(name.find("safetensors") != std::string::npos || name.ends_with(".tmp")) << name;
}

TEST(Errors, OfTheToolItself) {
  const Directory directory;
  const Outcome version = run_tool(directory, {"--version"});
  expect_fine(version);
  EXPECT_TRUE(version.out.starts_with("dre "));
  const Outcome help = run_tool(directory, {"--help"});
  expect_fine(help);
  expect_contains(help.out, {"dre fit", "dre ratio", "dre info"});
  const Outcome bare = run_tool(directory, {});
  EXPECT_EQ(bare.code, 2);
  EXPECT_EQ(bare.err, help.out);
  EXPECT_EQ(bare.out, "");
  const Outcome unknown = run_tool(directory, {"fitt"});
  EXPECT_EQ(unknown.code, 2);
  expect_contains(unknown.err,
                  {"dre: unknown command 'fitt'; commands are fit, ratio, info", "see dre --help"});
  for (const std::string command : {"fit", "ratio", "info"}) {
    const Outcome flags = run_tool(directory, {command, "--help"});
    expect_fine(flags);
    expect_contains(flags.out, {"Usage: dre " + command});
  }
}

}  // namespace
}  // namespace dre::testing
