#include "dre/apps/side_files.h"

#include <gtest/gtest.h>

#include "tests/apps/side_tables.h"

namespace dre::testing {
namespace {

using Strings = std::vector<std::string>;

TEST(SideFiles, ColumnsAreMatchedByName) {
  const Directory directory;
  const Sides sides =
      load_sides(two_files(directory, table("x,y", 20, 2), table("y,x", 20, 2, 0.5)));
  EXPECT_EQ(sides.names, (Strings{"x", "y"}));
  EXPECT_EQ(sides.numerator.x[1][0].item<double>(), 2);
  EXPECT_EQ(sides.denominator.x[1][0].item<double>(), 3.5);
  EXPECT_EQ(sides.denominator.x[1][1].item<double>(), 2.5);
  EXPECT_TRUE(sides.warnings.empty());
}

TEST(SideFiles, AColumnToDropNeedBeInOneFileOnly) {
  const Directory directory;
  auto options = two_files(directory, table("x,label", 20, 2), table("x", 20, 1));
  expect_contains(message_of([&] { load_sides(options); }), {"only ", "a.csv has label", "--drop"});
  options.drop = {"label"};
  EXPECT_EQ(load_sides(options).names, Strings{"x"});
  options.drop = {"label", "lable"};
  expect_contains(message_of([&] { load_sides(options); }), {"--drop names column 'lable'"});
}

TEST(SideFiles, WeightsAreTakenOutOfTheColumns) {
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

TEST(SideFiles, OneSideMayHaveWeightsAlone) {
  const Directory directory;
  auto options = two_files(directory, table("x,w", 20, 2), table("x", 20, 1));
  options.weight_column = "w";
  const Sides sides = load_sides(options);
  EXPECT_EQ(sides.names, Strings{"x"});
  EXPECT_TRUE(sides.numerator.weight.defined());
  EXPECT_FALSE(sides.denominator.weight.defined());
  options.columns = {"x"};
  EXPECT_FALSE(load_sides(options).denominator.weight.defined());
  options.columns = {};
  options.drop = {"w"};
  options.weight_column = "v";  // nobody has it
  expect_contains(message_of([&] { load_sides(options); }, Error::Kind::data), {"'v'"});
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

TEST(SideFiles, TheNumeratorIsTheCustomaryValueOrTheNamedOne) {
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

TEST(SideFiles, EveryRowMustBelongToASide) {
  const Directory directory;
  auto options = one_file(directory, "0", "");
  expect_contains(message_of([&] { load_sides(options); }),
                  {"all.csv: row 21, column 'side'", "missing"});
  options = one_file(directory, "0", "0");
  expect_contains(message_of([&] { load_sides(options); }), {"must have two values", "only '0'"});
}

TEST(SideFiles, MissingValuesCanBeRefused) {
  const Directory directory;
  auto options = two_files(directory, table("x,y", 20, 2) + "1,NA\n", table("x,y", 20, 2));
  EXPECT_EQ(load_sides(options).names, (Strings{"x", "y", "y is missing"}));
  options.missing = "error";
  expect_contains(message_of([&] { load_sides(options); }),
                  {"a.csv: row 21", "column 'y'", "--missing error", "--drop y"});
}

TEST(SideFiles, NobodyIsAdvisedToDropWhatANameAsksFor) {
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

TEST(SideFiles, KindsCanBeGiven) {
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
  // Nor are they all alike where doubles have the same digits only.
  std::string c = "age,code\n", d = c;
  for (int i = 0; i < 90; ++i) {
    c += text(i, ",123456789012345610", i % 3, "\n");
    d += text(i, ",123456789012345610", i % 2, "\n");
  }
  auto long_ones = two_files(directory, c, d);
  EXPECT_EQ(codes(load_sides(long_ones)),
            (Strings{"row-numbers", "constant-column", "rounded-numbers"}));
  // Marks in every row lose nothing.
  std::string marks = "age,code\n";
  for (int i = 0; i < 90; ++i) marks += text(i * i % 83, ",-9223372036854775808\n");
  EXPECT_EQ(codes(load_sides(two_files(directory, marks, marks))), Strings{"constant-column"});
  long_ones = two_files(directory, c, d);
  long_ones.categorical = {"code"};
  const Sides exact = load_sides(long_ones);
  EXPECT_EQ(exact.names,
            (Strings{"age", "code = 1234567890123456101", "code = 1234567890123456102"}));
  EXPECT_EQ(exact.encoding.exact(), Strings{"code"});
  options.numeric = {"code"};
  expect_contains(message_of([&] { load_sides(options); }, Error::Kind::usage),
                  {"'code'", "--categorical", "--numeric"});
  options.categorical = {"kode"};
  options.numeric = {};
  expect_contains(message_of([&] { load_sides(options); }), {"--categorical", "'kode'"});
}

TEST(SideFiles, AKindOfAColumnThatIsLeftOutIsAContradiction) {
  const Directory directory;
  const auto given = two_files(directory, table("x,age,w", 20, 3), table("x,age,w", 20, 3, 0.5));
  for (const char* option : {"--categorical", "--numeric"}) {
    auto options = given;
    (option == std::string("--numeric") ? options.numeric : options.categorical) = {"age"};
    options.drop = {"age"};
    expect_contains(message_of([&] { load_sides(options); }, Error::Kind::usage),
                    {"'age'", "--drop", option});
    options.drop = {};
    options.columns = {"x"};
    expect_contains(message_of([&] { load_sides(options); }, Error::Kind::usage),
                    {"'age'", "--columns", option});
  }
  auto options = given;
  options.columns = {"x"};
  options.numeric = {"w"};  // which is read for its own sake
  options.weight_column = "w";
  EXPECT_EQ(load_sides(options).names, Strings{"x"});
}

/// Few values a side, as a table of ages has: judged by both sides together.
TEST(SideFiles, AWordAmongNumbersOfTwoFiles) {
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

TEST(SideFiles, OfManyRowsASampleIsUsed) {
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

TEST(SideFiles, ASampleHangsOnItsSeedAndIsNotThatOfTheOtherFile) {
  const Directory directory;
  auto options = two_files(directory, table("x", 500, 1, 0.25), table("x", 500, 1, 0.25));
  options.max_rows = 100;
  const Sides first = load_sides(options), again = load_sides(options, 0);
  EXPECT_TRUE(first.numerator.x.equal(again.numerator.x));
  EXPECT_FALSE(first.numerator.x.equal(first.denominator.x));
  const Sides other = load_sides(options, 1);
  EXPECT_FALSE(other.numerator.x.equal(first.numerator.x));
  EXPECT_FALSE(other.denominator.x.equal(first.denominator.x));
}

TEST(SideFiles, ErrorsTellTheRowOfTheFile) {
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

}  // namespace
}  // namespace dre::testing
