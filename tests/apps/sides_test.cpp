#include "dre/apps/sides.h"

#include <gtest/gtest.h>

#include "tests/apps/side_tables.h"

namespace dre::testing {
namespace {

using Strings = std::vector<std::string>;

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

/// A column may be called like an indicator that the encoding makes of another.
TEST(Sides, AConstantColumnTakesNoIndicatorOfItsNameAlong) {
  const Directory directory;
  std::string a = "age,age is missing,x\n", b = a;
  for (int i = 0; i < 40; ++i) {
    a += text(i % 2 ? text(i) : "", ",7,", i, "\n");
    b += text(i % 5 ? text(i) : "", ",7,", i + 0.5, "\n");
  }
  const Sides sides = load_sides(two_files(directory, a, b));
  EXPECT_EQ(sides.names, (Strings{"age", "age is missing", "x"}));
  EXPECT_EQ(sides.numerator.x.select(1, 1).sum().item<double>(), 20);
  EXPECT_EQ(sides.denominator.x.select(1, 1).sum().item<double>(), 8);
  EXPECT_EQ(sides.description["dropped_columns"], nlohmann::json({"age is missing"}));
  EXPECT_EQ(sides.warnings.at(0).message,
            "column age is missing is constant on both sides and left out");
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

/// Numbers that are different in every row and column, with a weight.
std::string numbered(int rows, int columns, int from, int times) {
  std::string out = "w";
  for (int j = 0; j < columns; ++j) out += text(",c", j);
  out += "\n";
  for (int k = 0; k < times; ++k)
    for (int i = from; i < from + rows; ++i) {
      out += text(1 + i % 3);
      for (int j = 0; j < columns; ++j) out += text(",", (i * 7919 + j * 104729) % 100003);
      out += "\n";
    }
  return out;
}

TEST(Sides, CopiesCountAsOneRowWithTheirWeights) {
  const Directory directory;
  const std::string other = numbered(80, 2, 500, 1);
  auto options =
      two_files(directory, numbered(60, 2, 0, 1) + numbered(30, 2, 0, 1).substr(8), other);
  const Sides alike = load_sides(options);
  EXPECT_EQ(codes(alike)[0], "copied-rows");
  expect_contains(alike.warnings[0].message, {"30 of the 90 rows of the numerator"});
  EXPECT_EQ(alike.description["numerator"]["rows"], 90);
  EXPECT_EQ(alike.description["numerator"]["different_rows"], 60);
  EXPECT_NEAR(alike.description["numerator"]["effective_rows"], 90 * 90 / 150.0, 1e-9);
  EXPECT_FALSE(alike.description["denominator"].contains("different_rows"));
  EXPECT_NEAR(alike.numerator.weight[0].item<double>(), 2 / 1.5, 1e-12);
  options.weight_column = "w";
  const Sides weighted = load_sides(options);
  EXPECT_TRUE(weighted.denominator_has_weights);
  EXPECT_NEAR((weighted.numerator.weight[1] / weighted.numerator.weight[31]).item<double>(), 2,
              1e-12);
  // Where every row is there as often, nothing is left to weigh.
  const Sides thrice = load_sides(two_files(directory, numbered(60, 2, 0, 3), other));
  EXPECT_TRUE(thrice.numerator.x.equal(alike.numerator.x));
  EXPECT_FALSE(thrice.numerator.weight.defined());
}

/// Rows that are there three times each, but may have been chosen so.
TEST(Sides, TablesThatMayHaveBeenRepeatedAreTold) {
  const Directory directory;
  std::string ages = "age,sex\n";
  for (int i = 0; i < 3 * 80; ++i) ages += text(20 + i % 40, ",", i % 80 < 40 ? "f" : "m", "\n");
  const Sides sides = load_sides(two_files(directory, ages, ages.substr(0, ages.size() - 10)));
  EXPECT_EQ(codes(sides), Strings{"repeated-rows"});
  expect_contains(sides.warnings[0].message, {"every row of the numerator is there 3 times"});
  EXPECT_EQ(sides.numerator.rows(), 240);
}

TEST(Sides, OfNumbersInMemory) {
  const Tensor a = torch::tensor({{1., 5., 2.}, {2., 5., 1.}, {4., 5., 3.}});
  const Tensor weight = torch::tensor({1., 1., 2.}, torch::kFloat64);
  const Sides sides =
      make_sides(make_samples(a, weight), make_samples(a + torch::tensor({1., 0., 0.})),
                 {"age", "one", "size"});
  EXPECT_EQ(sides.names, (Strings{"age", "size"}));
  EXPECT_EQ(codes(sides), Strings{"constant-column"});
  EXPECT_EQ(sides.description["dropped_columns"], Strings{"one"});
  EXPECT_EQ(sides.description["columns"], (Strings{"age", "size"}));
  EXPECT_EQ(sides.description["numerator"]["rows"], 3);
  // As exact as numbers of files are.
  EXPECT_TRUE(
      sides.numerator.x.equal(a.index_select(1, torch::tensor({0, 2})).to(torch::kFloat64)));
  EXPECT_DOUBLE_EQ(sides.numerator.weight[2].item<double>(), 1.5);
  const Samples two = make_samples(a.slice(1, 0, 2));
  EXPECT_EQ(make_sides(two, make_samples(a.slice(1, 1, 3))).names, (Strings{"x0", "x1"}));
  const Samples ones = make_samples(torch::ones({3, 1})),
                zeros = make_samples(torch::zeros({3, 1}));
  const auto refusal = [](const Samples& one, const Samples& other, const Strings& names = {}) {
    return message_of([&] { make_sides(one, other, names); });
  };
  expect_contains(refusal(ones, ones), {"every column is constant"});
  expect_contains(refusal(ones, zeros), {"no value of x0 is on both sides", "infinite"});
  const Sides apart =
      make_sides(make_samples(torch::cat({ones.x, a.slice(1, 0, 1)}, 1)),
                 make_samples(torch::cat({zeros.x, a.slice(1, 2, 3)}, 1)), {"version", "age"});
  EXPECT_EQ(apart.names, Strings{"age"});
  EXPECT_EQ(apart.apart, Strings{"version"});
  EXPECT_EQ(codes(apart), Strings{"one-sided-column"});
  EXPECT_EQ(apart.description["dropped_columns"], Strings{"version"});
  // A model with such names could not be asked about any file.
  expect_contains(refusal(two, two, {"age", "age"}), {"columns 1 and 2 are both called 'age'"});
  expect_contains(refusal(two, two, {"age", ""}), {"column 2 has no name"});
  expect_contains(refusal(two, two, {"age", "\xff"}), {"not UTF-8"});
  const auto misuse = [&](const Samples& other, const Strings& names) {
    return message_of([&] { make_sides(two, other, names); }, Error::Kind::usage);
  };
  expect_contains(misuse(make_samples(a), {}), {"columns"});
  expect_contains(misuse(two, {"age"}), {"2 columns, but 1 name"});
}

TEST(Sides, OfNumbersOnADeviceAreTakenToTheHost) {
  const torch::Device device = device_by_name("auto");
  if (device.is_cpu()) GTEST_SKIP() << "no CUDA here";
  const Tensor a = torch::tensor({{1., 5.}, {2., 6.}, {4., 5.}}).to(device);
  const Sides sides = make_sides(make_samples(a, torch::tensor({1., 1., 2.})), make_samples(a + 1));
  EXPECT_TRUE(sides.numerator.x.equal(a.to(torch::kCPU, torch::kFloat64)));
  EXPECT_TRUE(sides.numerator.weight.is_cpu());
  EXPECT_EQ(sides.description["numerator"]["rows"], 3);
}

TEST(Sides, CopiesAreNoRows) {
  const Directory directory;
  const std::string other = numbered(80, 30, 500, 1);
  expect_contains(
      message_of([&] { load_sides(two_files(directory, numbered(60, 30, 0, 3), other)); }),
      {"need at least", "has 60 different ones; add rows"});
}

TEST(Sides, RareLevelsAreCountedWithoutCopies) {
  const Directory directory;
  const auto with_zip = [](const char* own, double shift, int times) {
    std::string out = "x,y,zip\n";
    for (int k = 0; k < times; ++k)
      for (int i = 0; i < 200; ++i)
        out += text(shift + i * 37 % 211, ",", shift + i * 101 % 307, ",",
                    i % 2 == 0 ? text(own, i / 4) : "both", "\n");
    return out;
  };
  const Sides once = load_sides(two_files(directory, with_zip("a", 0, 1), with_zip("b", 0.5, 1)));
  const Sides twice = load_sides(two_files(directory, with_zip("a", 0, 2), with_zip("b", 0.5, 1)));
  EXPECT_EQ(codes(twice)[0], "copied-rows");
  EXPECT_EQ(once.own_levels.columns, Strings{"zip"});
  EXPECT_EQ(twice.own_levels.columns, Strings{"zip"});
  EXPECT_EQ(twice.own_levels.numerator, once.own_levels.numerator);
  EXPECT_TRUE(twice.numerator.x.equal(once.numerator.x));
}

}  // namespace
}  // namespace dre::testing
