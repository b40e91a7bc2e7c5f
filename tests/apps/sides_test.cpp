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
  EXPECT_EQ(sides.names, (Strings{"x", "half", "half = 1"}));
  EXPECT_EQ(sides.numerator.columns(), 3);
  EXPECT_EQ(codes(sides), (Strings{"one-sided-column", "constant-column"}));
  EXPECT_EQ(sides.description["dropped_columns"], nlohmann::json({"same"}));
  expect_contains(sides.warnings[0].message, {"column half is"});
}

/// Rare levels on one side only are told; by themselves they make a difference where rows count
/// alike.
TEST(Sides, RareLevelsOfOneSideCountUnlessRowsHaveWeights) {
  const Directory directory;
  std::string a = "x,zip,w\n", b = a;
  for (int i = 0; i < 200; ++i) {
    const bool rare = i % 2 == 0;
    a += text(i, ",", rare ? text("a", i / 4) : "both", ",", 1 + i % 3, "\n");
    b += text(i + 0.5, ",", rare ? text("b", i / 4) : "both", ",", 1 + i % 3, "\n");
  }
  auto options = two_files(directory, a, b);
  options.drop = {"w"};
  const Sides alike = load_sides(options);
  EXPECT_EQ(alike.own_levels.columns, Strings{"zip"});
  EXPECT_TRUE(alike.own_levels.nothing_shared);
  options.drop = {};
  options.weight_column = "w";
  const Sides weighted = load_sides(options);
  EXPECT_TRUE(weighted.own_levels.columns.empty());
  EXPECT_EQ(codes(weighted)[0], "one-sided-category");
}

TEST(Sides, AColumnWithoutACommonValueIsNamedWhereNothingElseIsLeft) {
  const Directory directory;
  std::string a = "x\n", b = a;
  for (int i = 0; i < 40; ++i) {
    a += "1\n";
    b += text(i + 0.5, "\n");
  }
  const auto options = two_files(directory, a, b);
  expect_contains(message_of([&] { load_sides(options); }), {"no value of x is on both sides"});
}

TEST(Sides, OfAColumnWithOneValueOrNoneOnlyThatIsCompared) {
  const Directory directory;
  std::string a = "x,flag\n", b = a;
  for (int i = 0; i < 40; ++i) {
    a += text(i, i % 2 ? ",1\n" : ",\n");
    b += text(i + 0.5, i % 5 ? ",1\n" : ",\n");
  }
  const Sides sides = load_sides(two_files(directory, a, b));
  EXPECT_EQ(sides.names.size(), 2);
  EXPECT_EQ(codes(sides), Strings{"constant-column"});
  expect_contains(sides.warnings[0].message, {"flag", "only whether there is one"});
  EXPECT_TRUE(sides.description["dropped_columns"].empty());
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

TEST(Sides, OneSideMayHaveWeightsAlone) {
  const Directory directory;
  auto options = two_files(directory, table("x,w", 20, 2), table("x", 20, 1));
  options.weight_column = "w";
  const Sides sides = load_sides(options);
  EXPECT_EQ(sides.names, Strings{"x"});
  EXPECT_TRUE(sides.numerator.weight.defined());
  EXPECT_FALSE(sides.denominator.weight.defined());
  options.drop = {"w"};
  options.weight_column = "v";  // nobody has it
  expect_contains(message_of([&] { load_sides(options); }, Error::Kind::data), {"'v'"});
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
  expect_contains(message_of([&] { load_sides(options); }), {"must have two values", "only '0'"});
}

TEST(Sides, TablesAsTheyAre) {
  const Directory directory;
  std::string a = "x,city,when,id,none\n", b = a;
  for (int i = 0; i < 60; ++i) {
    a += text(i % 9 == 0 ? "NA" : text(i), ",", i % 2 ? "rome" : "oslo", ",2020-01-", 10 + i % 20,
              ",a", i, ",\n");
    b += text(i + 0.5, ",", i % 3 ? "rome" : "bonn", ",2020-02-", 10 + i % 20, ",b", i, ",\n");
  }
  const Sides sides = load_sides(two_files(directory, a, b));
  EXPECT_EQ(sides.names, (Strings{"x", "x is missing", "city = oslo", "city = bonn", "when"}));
  EXPECT_EQ(sides.encoding.raw_names(), (Strings{"x", "city", "when"}));
  EXPECT_EQ(codes(sides), (Strings{"all-missing-column", "id-like-column", "one-sided-category",
                                   "one-sided-column"}));
  EXPECT_EQ(sides.denominator.x[0][4].item<double>() - sides.numerator.x[0][4].item<double>(), 31);
}

/// Decimal commas and the like: a table of them is taken as names or categories, with a hint.
TEST(Sides, FormattedNumbersAreTold) {
  const Directory directory;
  const auto table = [](int offset, int step) {
    std::string out = "x;y\n";
    for (int i = 0; i < 60; ++i)
      out += text((offset + i) / 10, ",", (offset + i) % 10, ";", i / step % 12, ",5\n");
    return out;
  };
  const Sides sides = load_sides(two_files(directory, table(100, 1), table(500, 1)));
  EXPECT_EQ(codes(sides), (Strings{"id-like-column", "formatted-numbers"}));
  for (const auto& warning : sides.warnings)
    expect_contains(warning.message, {"could be numbers or dates", "1234.5"});
  auto options = two_files(directory, table(100, 1), table(500, 1));
  options.columns = {"x"};
  expect_contains(message_of([&] { load_sides(options); }),
                  {"no column is left", "x could be numbers or dates"});
  std::string plain = "x\n";
  for (int i = 0; i < 60; ++i) plain += text(i % 12, "\n");
  options = two_files(directory, plain, plain);
  options.categorical = {"x"};
  EXPECT_TRUE(codes(load_sides(options)).empty());
  // Few levels are categories, whatever they look like.
  EXPECT_EQ(codes(load_sides(two_files(directory, table(100, 10), table(500, 10)))),
            Strings{"id-like-column"});
}

TEST(Sides, RowNumbersAreTold) {
  const Directory directory;
  std::string a = "id,x\n", b = a;
  for (int i = 0; i < 60; ++i) {
    a += text(i, ",", i % 7, "\n");
    b += text(60 + i, ",", i % 7, "\n");
  }
  const Sides sides = load_sides(two_files(directory, a, b));
  EXPECT_EQ(sides.names, (Strings{"id", "x"}));
  EXPECT_EQ(codes(sides), Strings{"row-numbers"});
  expect_contains(sides.warnings[0].message, {"in id", "--drop"});
}

/// Such a column cannot be modelled, and is no reason not to compare the others.
TEST(Sides, AColumnThatOneSideNeverHasIsLeftOut) {
  const Directory directory;
  std::string a = "x,y\n", b = a, c = a;
  for (int i = 0; i < 60; ++i) {
    a += text(i, ",\n");
    b += text(i + 0.5, ",", i % 7, "\n");
    c += text(i + 0.5, ",", i % 7 ? text(i) : "", "\n");
  }
  const Sides sides = load_sides(two_files(directory, a, b));
  EXPECT_EQ(sides.names, (Strings{"x"}));
  EXPECT_EQ(codes(sides), (Strings{"one-sided-missing"}));
  expect_contains(sides.warnings[0].message, {"column y is always missing on one side"});
  const Sides some = load_sides(two_files(directory, a, c));
  EXPECT_EQ(some.encoding.raw_names(), (Strings{"x", "y"}));
}

TEST(Sides, MissingValuesCanBeRefused) {
  const Directory directory;
  auto options = two_files(directory, table("x,y", 20, 2) + "1,NA\n", table("x,y", 20, 2));
  EXPECT_EQ(load_sides(options).names, (Strings{"x", "y", "y is missing"}));
  options.missing = "error";
  expect_contains(message_of([&] { load_sides(options); }),
                  {"a.csv: row 21", "column 'y'", "--missing error", "--drop y"});
}

TEST(Sides, NobodyIsAdvisedToDropWhatANameAsksFor) {
  const Directory directory;
  const auto options = two_files(directory, table("x,y", 20, 2) + "1,inf\n", table("x,y", 20, 2));
  const auto advised = [&](const SidesOptions& asked) {
    const std::string message = message_of([&] { load_sides(asked); });
    expect_contains(message, {"a.csv: row 21", "column 'y'", "'inf' is infinite"});
    return message.find("--drop") != std::string::npos;
  };
  EXPECT_TRUE(advised(options));
  auto named = options, numeric = options, weights = options;
  named.columns = {"x", "y"};
  numeric.numeric = {"y"};
  weights.weight_column = "y";
  EXPECT_FALSE(advised(named));
  EXPECT_FALSE(advised(numeric));
  EXPECT_FALSE(advised(weights));
}

TEST(Sides, KindsCanBeGiven) {
  const Directory directory;
  std::string a = "code\n", b = a;
  for (int i = 0; i < 90; ++i) {
    a += text(i % 3, "\n");
    b += text(i % 2, "\n");
  }
  auto options = two_files(directory, a, b);
  EXPECT_EQ(load_sides(options).names, Strings{"code"});
  options.categorical = {"code"};
  EXPECT_EQ(load_sides(options).names, (Strings{"code = 1", "code = 2"}));
  options.numeric = {"code"};
  expect_contains(message_of([&] { load_sides(options); }, Error::Kind::usage),
                  {"'code'", "--categorical", "--numeric"});
  options.categorical = {"kode"};
  options.numeric = {};
  expect_contains(message_of([&] { load_sides(options); }), {"--categorical", "'kode'"});
}

/// Few values a side, as a table of ages has: judged by both sides together.
TEST(Sides, AWordAmongNumbersOfTwoFiles) {
  const Directory directory;
  std::string a = "age\n", b = a, dates = "day\n", days = dates;
  for (int i = 0; i < 300; ++i) {
    a += i == 7 ? "4o\n" : text(18 + i % 30, "\n");
    b += text(18 + i % 67, "\n");
    dates += i == 9 ? "soon\n" : text("2024-03-", 10 + i % 20, "\n");
    days += text("20", 10 + i % 20, "-04-", 10 + i % 19, "\n");
  }
  auto options = two_files(directory, a, b);
  expect_contains(message_of([&] { load_sides(options); }),
                  {"a.csv: row 8", "'4o' is not a number", "599 of 600", "--drop age"});
  options = two_files(directory, b, a);
  expect_contains(message_of([&] { load_sides(options); }), {"b.csv: row 8", "'4o'"});
  options.categorical = {"age"};
  EXPECT_GT(load_sides(options).names.size(), 20);
  options = two_files(directory, dates, days);
  expect_contains(message_of([&] { load_sides(options); }),
                  {"a.csv: row 10", "'soon' is not a date", "599 of 600"});
  // Of few values on both sides it is a category.
  options = two_files(directory, a, a);
  EXPECT_GT(load_sides(options).names.size(), 20);
}

TEST(Sides, OfManyRowsASampleIsUsed) {
  const Directory directory;
  auto options = two_files(directory, table("x", 500, 1, 0.25), table("x", 80, 1, 0.25));
  options.max_rows = 100;
  const Sides sides = load_sides(options);
  EXPECT_EQ(sides.numerator.rows(), 100);
  EXPECT_EQ(sides.denominator.rows(), 80);
  EXPECT_EQ(codes(sides), Strings{"sampled-rows"});
  expect_contains(sides.warnings[0].message, {"100 of the 500 rows", "--max-rows"});
  EXPECT_FALSE(sides.denominator_is_sampled);
  options = one_file(directory, "0", "1");
  EXPECT_TRUE(codes(load_sides(options)).empty());
  options.max_rows = 15;
  const Sides both = load_sides(options);
  EXPECT_EQ(both.numerator.rows(), 15);
  EXPECT_EQ(both.denominator.rows(), 15);
  EXPECT_EQ(codes(both), (Strings{"sampled-rows", "sampled-rows"}));
  expect_contains(both.warnings[0].message, {"15 of the 20 rows of the numerator in "});
  EXPECT_TRUE(both.denominator_is_sampled);
}

TEST(Sides, ErrorsTellTheRowOfTheFile) {
  const Directory directory;
  const auto with = [&](const std::string& header, const std::string& at_28) {
    std::string all = header + "\n";
    for (int i = 1; i <= 40; ++i) all += i == 28 ? at_28 + "\n" : text(i, ",", i % 2, ",1\n");
    SidesOptions options;
    options.data = directory.write("all.csv", all);
    options.domain_column = "side";
    return options;
  };
  auto options = with("x,side,z", "1e200,0,1");
  const std::string place = "all.csv: row 28, column ";
  expect_contains(message_of([&] { load_sides(options); }), {place + "'x'", "1e150"});
  options = with("x,side,w", "1,0,-1");
  options.weight_column = "w";
  expect_contains(message_of([&] { load_sides(options); }), {place + "'w'", "negative"});
}

TEST(Sides, MoreColumnsThanTheRowsCanCarryAreRefused) {
  const Directory directory;
  std::string header = "c0";
  for (int j = 1; j < 3000; ++j) header += text(",c", j);
  std::string a = header + "\n", b = a;
  for (int i = 0; i < 40; ++i)
    for (int j = 0; j < 3000; ++j) {
      a += text((i * 7 + j) % 11, j + 1 < 3000 ? "," : "\n");
      b += text((i * 5 + j) % 11, j + 1 < 3000 ? "," : "\n");
    }
  expect_contains(message_of([&] { load_sides(two_files(directory, a, b)); }),
                  {"too few rows", "3000 columns need at least 6002 rows", "has 40"});
}

TEST(Sides, MoreLevelsThanTheRowsCanCarryAreRefused) {
  const Directory directory;
  std::string header = "c0";
  for (int j = 1; j < 100; ++j) header += text(",c", j);
  std::string a = header + "\n";
  for (int i = 0; i < 200; ++i)
    for (int j = 0; j < 100; ++j) a += text("level ", (i * 7 + j) % 5, j + 1 < 100 ? "," : "\n");
  expect_contains(message_of([&] { load_sides(two_files(directory, a, a)); }),
                  {"too few rows", "100 columns, 400 after encoding, need at least 802 rows",
                   "has 200; add rows or leave out columns"});
}

}  // namespace
}  // namespace dre::testing
