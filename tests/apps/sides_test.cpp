#include "dre/apps/sides.h"

#include <gtest/gtest.h>

#include "tests/data/files.h"

namespace dre::testing {
namespace {

/// `rows` lines of `columns` numbers, different in every cell; `shift` is added to all.
std::string table(const std::string& header, int rows, int columns, double shift = 0) {
  std::string out = header + "\n";
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j)
      out += text(shift + i * columns + j, j + 1 < columns ? "," : "\n");
  return out;
}

SidesOptions two_files(const Directory& directory, const std::string& numerator,
                       const std::string& denominator) {
  SidesOptions options;
  options.numerator = directory.write("a.csv", numerator);
  options.denominator = directory.write("b.csv", denominator);
  return options;
}

std::vector<std::string> codes(const Sides& sides) {
  std::vector<std::string> out;
  for (const auto& warning : sides.warnings) out.push_back(warning.code);
  return out;
}

using Strings = std::vector<std::string>;

TEST(Sides, ColumnsAreMatchedByName) {
  const Directory directory;
  const Sides sides =
      load_sides(two_files(directory, table("x,y", 20, 2), table("y,x", 20, 2, 0.5)));
  EXPECT_EQ(sides.names, (Strings{"x", "y"}));
  EXPECT_EQ(sides.numerator.x[1][0].item<double>(), 2);
  EXPECT_EQ(sides.denominator.x[1][0].item<double>(), 3.5);
  EXPECT_EQ(sides.denominator.x[1][1].item<double>(), 2.5);
  EXPECT_TRUE(sides.warnings.empty());
}

TEST(Sides, AColumnToDropNeedBeInOneFileOnly) {
  const Directory directory;
  auto options = two_files(directory, table("x,label", 20, 2), table("x", 20, 1));
  expect_contains(message_of([&] { load_sides(options); }), {"only ", "a.csv has label", "--drop"});
  options.drop = {"label"};
  EXPECT_EQ(load_sides(options).names, Strings{"x"});
  options.drop = {"label", "lable"};
  expect_contains(message_of([&] { load_sides(options); }), {"--drop names column 'lable'"});
}

TEST(Sides, ConstantColumnsAreLeftOutAndOneSidedOnesWarnedOf) {
  const Directory directory;
  std::string a = "x,same,half\n", b = a;
  for (int i = 0; i < 20; ++i) {
    a += text(i, ",7,1\n");
    b += text(i + 0.5, ",7,", i, "\n");
  }
  const Sides sides = load_sides(two_files(directory, a, b));
  EXPECT_EQ(sides.names, (Strings{"x", "half"}));
  EXPECT_EQ(sides.numerator.columns(), 2);
  EXPECT_EQ(codes(sides), (Strings{"one-sided-column", "constant-column"}));
  EXPECT_EQ(sides.description["dropped_columns"], nlohmann::json({"same"}));
  expect_contains(sides.warnings[0].message, {"column half is"});
}

TEST(Sides, ConstantColumnsNeedNoRows) {
  const Directory directory;
  // 12 columns need 26 rows; the one that varies needs 10.
  std::string header = "x", a, b;
  for (int j = 1; j < 12; ++j) header += text(",c", j);
  for (int i = 0; i < 12; ++i) {
    a += text(i, ",1,1,1,1,1,1,1,1,1,1,1\n");
    b += text(i + 0.5, ",1,1,1,1,1,1,1,1,1,1,1\n");
  }
  EXPECT_EQ(load_sides(two_files(directory, header + "\n" + a, header + "\n" + b)).names,
            Strings{"x"});
}

TEST(Sides, WeightsAreTakenOutOfTheColumns) {
  const Directory directory;
  std::string a = "x,w\n";
  for (int i = 0; i < 20; ++i) a += text(i, ",", i < 10 ? 1 : 3, "\n");
  auto options = two_files(directory, a, table("w,x", 20, 2));
  options.weight_column = "w";
  const Sides sides = load_sides(options);
  EXPECT_EQ(sides.names, Strings{"x"});
  EXPECT_EQ(sides.numerator.weight[0].item<double>(), 0.5);
  EXPECT_EQ(sides.numerator.weight[19].item<double>(), 1.5);
  options.columns = {"x"};  // the weights need not be named again
  EXPECT_TRUE(load_sides(options).numerator.weight.equal(sides.numerator.weight));
  options.drop = {"w"};
  expect_contains(message_of([&] { load_sides(options); }, Error::Kind::usage),
                  {"'w'", "--drop", "--weight-column"});
}

TEST(Sides, ChecksumsFollowTheNumbersNotTheFormat) {
  const Directory directory;
  const std::string a = table("x0,x1", 20, 2), b = table("x0,x1", 20, 2, 0.5);
  const auto options = two_files(directory, a, b);
  std::vector<double> numbers(40);
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<double>(i);
  auto other = options;
  other.numerator = directory.write("a.npy", npy("<f8", "(20, 2)", bytes_of(numbers)));
  const auto first = load_sides(options).description, second = load_sides(other).description;
  EXPECT_EQ(first["numerator"]["crc32"], second["numerator"]["crc32"]);
  EXPECT_NE(first["numerator"]["crc32"], first["denominator"]["crc32"]);
  EXPECT_EQ(second["numerator"]["file"], "a.npy");
}

/// Twenty rows of each value, the first value first.
SidesOptions one_file(const Directory& directory, const std::string& first,
                      const std::string& second) {
  std::string all = "x,side\n";
  for (int i = 0; i < 40; ++i) all += text(i, ",", i < 20 ? first : second, "\n");
  SidesOptions options;
  options.data = directory.write("all.csv", all);
  options.domain_column = "side";
  return options;
}

TEST(Sides, TheNumeratorIsTheCustomaryValueOrTheNamedOne) {
  const Directory directory;
  const auto first_of_numerator = [&](const SidesOptions& options) {
    return load_sides(options).numerator.x[0][0].item<double>();
  };
  EXPECT_EQ(first_of_numerator(one_file(directory, "0", "1")), 20);
  EXPECT_EQ(first_of_numerator(one_file(directory, "1", "0")), 0);
  EXPECT_EQ(first_of_numerator(one_file(directory, "1.0", "-1.0")), 0);
  EXPECT_EQ(first_of_numerator(one_file(directory, "False", "True")), 20);
  EXPECT_EQ(first_of_numerator(one_file(directory, "denominator", "numerator")), 20);
  auto options = one_file(directory, "rome", "oslo");
  expect_contains(message_of([&] { load_sides(options); }, Error::Kind::usage),
                  {"oslo, rome", "--numerator-value"});
  options.numerator_value = "oslo";
  EXPECT_EQ(first_of_numerator(options), 20);
  options = one_file(directory, "1", "2");  // 1 is no custom beside 2
  expect_contains(message_of([&] { load_sides(options); }, Error::Kind::usage), {"1, 2"});
  options.numerator_value = "2.0";
  EXPECT_EQ(first_of_numerator(options), 20);
}

TEST(Sides, EveryRowMustBelongToASide) {
  const Directory directory;
  auto options = one_file(directory, "0", "");
  expect_contains(message_of([&] { load_sides(options); }),
                  {"all.csv: row 21, column 'side'", "missing"});
  options = one_file(directory, "0", "0");
  expect_contains(message_of([&] { load_sides(options); }), {"must have two values, it has 1: 0"});
}

TEST(Sides, MissingValuesAreNamedByRow) {
  const Table table{{"x", "y"}, torch::tensor({{1.0, 2.0}, {3.0, std::nan("")}}), {}};
  expect_contains(message_of([&] { check_complete(table, "t.csv", 100); }),
                  {"t.csv: row 102, column 'y'", "--missing"});
}

}  // namespace
}  // namespace dre::testing
