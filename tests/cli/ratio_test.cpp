#include "tests/cli/tool.h"

namespace dre::testing {
namespace {

/// Without a reference the network always takes part.
const Arguments unguarded = {"--method", "velocity", "--reference", "none"};

TEST(Ratio, WritesTheSameNumbersInEveryForm) {
  const Directory directory;
  write_sides(directory);
  expect_fine(run_tool(directory, fit_with(two_files())));
  const Outcome printed =
      run_tool(directory, {"ratio", "--model", "m.safetensors", "--input", "a.csv"});
  expect_fine(printed);
  EXPECT_TRUE(printed.out.starts_with("log_ratio\n"));
  const Rows expected = numbers(printed.out);
  EXPECT_EQ(expected.size(), 400u);
  const Arguments ratio = {"ratio", "--model", "m.safetensors", "--input", "a.csv", "--output"};
  const Outcome to_file = run_tool(directory, ratio + Arguments{"out.csv"});
  expect_fine(to_file);
  EXPECT_EQ(to_file.out, "");
  EXPECT_EQ(directory.read("out.csv"), printed.out);
  expect_fine(run_tool(directory, ratio + Arguments{"out.npy"}));
  std::vector<double> values;
  for (const auto& row : expected) values.push_back(row[0]);
  EXPECT_TRUE(directory.read("out.npy").ends_with(bytes_of(values)));
  const Outcome piped = run_tool(directory, {"ratio", "--model", "m.safetensors", "--input", "-"},
                                 {directory.read("a.csv"), 0, ".std"});
  EXPECT_EQ(piped.out, printed.out);
}

TEST(Ratio, ExtraColumnsOfAnyTypeAndTheOrderAreIgnored) {
  const Directory directory;
  write_sides(directory);
  expect_fine(run_tool(directory, fit_with(two_files())));
  directory.write("plain.csv", "x0,x1\n0.5,1\n-1,2\n");
  directory.write("extra.csv", "name,x1,empty,x0\nann,1,,0.5\nbob,2,NA,-1\n");
  EXPECT_EQ(rate(directory, "extra.csv"), rate(directory, "plain.csv"));
}

TEST(Ratio, CountsCategoriesThatAreRareOrNew) {
  const Directory directory;
  std::string a = "x,city\n", b = a;
  for (int i = 0; i < 200; ++i) {
    const std::string city = i % 20 == 0 ? text("rare", i / 60) : i % 3 == 0 ? "rome" : "oslo";
    a += text(i % 17, ",", city, "\n");
    b += text(i % 13, ",", city, "\n");
  }
  directory.write("a.csv", a);
  directory.write("b.csv", b);
  expect_fine(run_tool(directory, fit_with(two_files())));
  const Arguments ratio = {"ratio", "--model", "m.safetensors", "--input"};
  directory.write("new.csv", "x,city\n1,rome\n2,lima\n3,rare0\n4,oslo\n5,lima\n");
  const Outcome fresh = run_tool(directory, ratio + Arguments{"new.csv"});
  EXPECT_EQ(fresh.code, 0);
  expect_contains(fresh.err, {"3 cells have a category that was rare in the fit or that it never "
                              "saw",
                              "unseen-category"});
  directory.write("known.csv", "x,city\n1,rome\n4,oslo\n");
  expect_fine(run_tool(directory, ratio + Arguments{"known.csv"}));
}

TEST(Ratio, NamesTheFirstRowWithoutAFiniteRatio) {
  const Directory directory;
  write_sides(directory);
  expect_fine(run_tool(directory, fit_with(two_files())));
  directory.write("far.csv", "x0,x1\n0,0\n1,1\n1e60,0\n0,1e60\n");
  const Outcome far = run_tool(directory, {"ratio", "--model", "m.safetensors", "--input",
                                           "far.csv", "--output", "out.csv"});
  EXPECT_EQ(far.code, 4);
  expect_contains(far.err, {"2 of 4", "row 3"});
  EXPECT_EQ(numbers(directory.read("out.csv")).size(), 4u);  // the others are not lost
}

TEST(Ratio, MethodsWithSeveralPathsTellTheirDisagreement) {
  const Directory directory;
  write_sides(directory);
  expect_fine(run_tool(directory, fit_with(two_files() + unguarded)));
  const Arguments ratio = {"ratio", "--model", "m.safetensors", "--input", "a.csv"};
  const Outcome with_error = run_tool(directory, ratio + Arguments{"--with-error"});
  expect_fine(with_error);
  EXPECT_TRUE(with_error.out.starts_with("log_ratio,error,disagreement\n"));
  const Rows all = numbers(with_error.out),
             line = rate(directory, "a.csv", "m.safetensors", {"--path", "line"}),
             flow = rate(directory, "a.csv", "m.safetensors", {"--path", "flow"});
  double largest = 0;
  for (size_t i = 0; i < all.size(); ++i) {
    largest = std::max(largest, all[i][2]);
    const double expected =
        std::max(std::abs(line[i][0] - all[i][0]), std::abs(flow[i][0] - all[i][0]));
    EXPECT_NEAR(all[i][2], expected, 1e-9);
  }
  EXPECT_GT(largest, 0.01);  // of a network that has hardly learned
  // Another integrator is another way to the same integral.
  const Rows rk45 = rate(directory, "a.csv", "m.safetensors",
                         {"--integrator", "rk45", "--rtol", "1e-6", "--atol", "1e-6"});
  for (size_t i = 0; i < all.size(); ++i) EXPECT_NEAR(rk45[i][0], all[i][0], 2e-3);
}

TEST(Ratio, MemoryDoesNotGrowWithTheRows) {
  const Directory directory;
  const int columns = 16;
  directory.write("a.npy", npy_of(normal_rows(400, columns, 0.3, 1)));
  directory.write("b.npy", npy_of(normal_rows(400, columns, 0, 2)));
  expect_fine(run_tool(directory, fit_with(two_files("a.npy", "b.npy"))));
  const int rows = 200'000;  // 25.6 MB of input; as tensors it would take several times that
  directory.write("long.npy", npy("<f8", "(200000, 16)",
                                  std::string(size_t{rows} * columns * sizeof(double), '\0')));
  const Arguments ratio = {"ratio", "--model", "m.safetensors", "--output", "out.npy", "--input"};
  directory.write("short.npy", npy("<f8", "(16384, 16)",
                                   std::string(size_t{16384} * columns * sizeof(double), '\0')));
  const Outcome few = run_tool(directory, ratio + Arguments{"short.npy"});
  const Outcome many = run_tool(directory, ratio + Arguments{"long.npy"});
  expect_fine(few);
  expect_fine(many);
  EXPECT_GE(directory.read("out.npy").size(), rows * sizeof(double));
  EXPECT_LT(many.peak_kib, few.peak_kib + 24 * 1024);
}

TEST(Ratio, AnInterruptedRunLeavesNothing) {
  const Directory directory;
  write_sides(directory);
  expect_fine(run_tool(directory, fit_with(two_files() + unguarded)));
  directory.write("long.npy",
                  npy("<f8", "(300000, 2)", std::string(300000 * 2 * sizeof(double), '\0')));
  const auto before = directory.list().size();
  Process process(directory, {"ratio", "--model", "m.safetensors", "--input", "long.npy",
                              "--output", "out.csv", "--path", "flow"});
  process.interrupt();
  const Outcome outcome = process.wait();
  EXPECT_EQ(outcome.code, 130);
  expect_contains(outcome.err,
                  {"dre ratio: interrupted; ", " rows were rated, nothing was written"});
  EXPECT_EQ(directory.list().size(), before);
}

}  // namespace
}  // namespace dre::testing
