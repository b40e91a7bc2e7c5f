#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "dre/data/cell.h"
#include "dre/data/reader.h"
#include "tests/data/files.h"

namespace dre {
namespace {

using namespace dre::testing;
using Names = std::vector<std::string>;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

Tensor rows(std::vector<double> values, int64_t columns) {
  return torch::tensor(values, torch::kFloat64).reshape({-1, columns});
}

void expect_values(const Table& table, const Tensor& expected) {
  ASSERT_EQ(table.values.sizes(), expected.sizes());
  EXPECT_TRUE(torch::allclose(table.values, expected, 0, 0, /*equal_nan=*/true)) << table.values;
}

std::string csv_message(const std::string& bytes, const ReadOptions& options = {}) {
  Directory directory;
  const std::string path = directory.write("t.csv", bytes);
  const std::string message = message_of([&] { read_table(path, options); });
  expect_contains(message, {path});
  return message;
}

TEST(Cell, NumbersAreExact) {
  const std::vector<std::pair<std::string, double>> numbers = {
      {"0", 0},
      {"-1.5", -1.5},
      {"+2", 2},
      {" 3\t", 3},
      {".5", 0.5},
      {"5.", 5},
      {"1e5", 1e5},
      {"1E-3", 1e-3},
      {"0.1", 0.1},
      {"1e-310", 1e-310},
      {"1e-400", 0},
      {"-1e-400", -0.0},
      {"1e+300", 1e300},
      {"1e-99999999999999999999", 0},
      {"0." + std::string(400, '0') + "1", 0},
      {"1" + std::string(300, '0') + "e-300", 1},
      {"9007199254740993", 9007199254740992.0},
  };
  for (const auto& [text, value] : numbers) {
    const Cell cell = parse_cell(text);
    EXPECT_EQ(cell.kind, Cell::Kind::number) << text;
    EXPECT_EQ(cell.value, value) << text;
    EXPECT_EQ(std::signbit(cell.value), std::signbit(value)) << text;
  }
}

TEST(Cell, WholeNumbersThatADoubleRoundsAreTold) {
  EXPECT_EQ(rounded_whole("9007199254740993"), "9007199254740993");
  EXPECT_EQ(rounded_whole(" -09007199254740993"), "-9007199254740993");
  EXPECT_EQ(rounded_whole("+1234567890123456789"), "1234567890123456789");
  EXPECT_EQ(rounded_whole("0001234567890123456789"), "1234567890123456789");
  for (const char* text :
       {"", "-", "7", "9007199254740992", "1152921504606846976", "0000000000000000000000",
        "00000000000000000001", "1234567890123456.5", "1e300", "12345678901234567x"})
    EXPECT_FALSE(rounded_whole(text)) << text;
  EXPECT_TRUE(rounded_whole("1" + std::string(400, '0')));  // infinite
}

TEST(Cell, OddCellsHaveTheirKinds) {
  for (const char* text : {"", " ", "NA", "na", "NaN", "nan", "-nan", "NULL", "null", "None"})
    EXPECT_EQ(parse_cell(text).kind, Cell::Kind::missing) << text;
  for (const char* text :
       {"inf", "-Inf", "+INF", "infinity", "1e999", "-1e400", "1e99999999999999999999"})
    EXPECT_EQ(parse_cell(text).kind, Cell::Kind::infinite) << text;
  EXPECT_EQ(parse_cell("1" + std::string(400, '0')).kind, Cell::Kind::infinite);
  for (const char* text : {"abc", "1,5", "1 2", "0x10", "--1", "+-1", "1e", "N/A", "nano", "1.2.3"})
    EXPECT_EQ(parse_cell(text).kind, Cell::Kind::other) << text;
}

TEST(Csv, EveryFlavourGivesTheSameTable) {
  const Tensor expected = rows({1, 2, 3, -4.5}, 2);
  const Names flavours = {
      "a,b\n1,2\n3,-4.5\n",
      "a,b\n1,2\n3,-4.5",
      "a,b\r\n1,2\r\n3,-4.5\r\n",
      "\xEF\xBB\xBF"
      "a,b\n1,2\n3,-4.5\n",
      "a;b\n1;2\n3;-4.5\n",
      "a\tb\n1\t2\n3\t-4.5\n",
      "\"a\",\"b\"\n\"1\",2\n3,\"-4.5\"\n",
      "a, b\n 1 ,2\n3 , \"-4.5\" \n",
      "a,b\n1,2\n3,-4.5\n\n  \n\r\n",
  };
  for (const auto& bytes : flavours) {
    Directory directory;
    const Table table = read_table(directory.write("t.csv", bytes));
    EXPECT_EQ(table.columns, (Names{"a", "b"})) << bytes;
    expect_values(table, expected);
  }
  Directory directory;
  expect_values(read_table(directory.write("t.tsv", "a\tb\n1\t2\n3\t-4.5\n")), expected);
  expect_values(read_table(directory.write("t.CSV", flavours[0])), expected);
  // The bytes gzip writes for "a,b\n1,2\n3,4\n".
  const std::string packed =
      from_hex("1f8b08000000000002034bd449e232d431e232d631e10200e5e9d6ce0c000000");
  expect_values(read_table(directory.write("t.csv.gz", packed)), rows({1, 2, 3, 4}, 2));
}

TEST(Csv, QuotesHoldDelimitersQuotesAndLines) {
  Directory directory;
  ReadOptions options;
  options.texts = {"t", "u,v"};
  const Table table = read_table(
      directory.write("t.csv",
                      "t,x,\"u,v\"\n\"a \"\"b\"\" \"\"\"\"\",1,\"two\nlines\"\n5\",2, c d \n"),
      options);
  EXPECT_EQ(table.columns, Names{"x"});
  EXPECT_EQ(table.texts.at("t"), (Names{"a \"b\" \"\"", "5\""}));
  EXPECT_EQ(table.texts.at("u,v"), (Names{"two\nlines", "c d"}));
  expect_values(table, rows({1, 2}, 1));
}

TEST(Csv, MissingCellsAreKeptOrRefused) {
  const std::string bytes = "a,b\n1,\nNA,nan\n\"\",None\n";
  Directory directory;
  expect_values(read_table(directory.write("t.csv", bytes)), rows({1, nan, nan, nan, nan, nan}, 2));
  ReadOptions options;
  options.missing = "error";
  expect_contains(csv_message(bytes, options),
                  {"row 1 (line 2), column 'b'", "one is needed here"});
  options.texts = {"b"};
  expect_contains(csv_message("a,b\n1,x\n2,NA\n", options), {"row 2 (line 3), column 'b'"});
  options.missing = "keep";
  EXPECT_EQ(read_table(directory.write("u.csv", "a,b\n1,x\n2,NA\n"), options).texts.at("b"),
            (Names{"x", ""}));
}

TEST(Csv, ColumnsAreChosenByName) {
  Directory directory;
  const std::string path = directory.write("t.csv", "a,b,c,d\n1,2,x,4\n5,6,y,8\n");
  ReadOptions options;
  options.columns = {"d", "a"};
  EXPECT_EQ(read_table(path, options).columns, (Names{"d", "a"}));
  expect_values(read_table(path, options), rows({4, 1, 8, 5}, 2));
  options.columns_if_there = {"b", "e"};
  EXPECT_EQ(read_table(path, options).columns, (Names{"d", "a", "b"}));
  options = {};
  options.drop = {"c", "a"};
  expect_values(read_table(path, options), rows({2, 4, 6, 8}, 2));
  options.texts = {"b"};
  const Table table = read_table(path, options);
  EXPECT_EQ(table.texts.at("b"), (Names{"2", "6"}));
  EXPECT_EQ(table.columns, Names{"d"});
  options = {};
  options.columns = {"c"};
  options.texts = {"c"};
  EXPECT_EQ(read_table(path, options).rows(), 2);
  EXPECT_EQ(read_table(path, options).values.size(1), 0);
}

TEST(Csv, WrongOptionsAreUsageErrors) {
  Directory directory;
  const std::string path = directory.write("t.csv", "a,b\n1,2\n");
  const auto message = [&](const ReadOptions& options) {
    return message_of([&] { read_table(path, options); }, Error::Kind::usage);
  };
  expect_contains(message({{"a", "a"}, {}, {}, "keep"}), {"--columns names column 'a' twice"});
  expect_contains(message({{"a"}, {"a"}, {}, "keep"}), {"'a' is named by --drop and by --columns"});
  expect_contains(message({{}, {"a"}, {"a"}, "keep"}), {"by the text columns"});
  expect_contains(message({{}, {}, {}, "drop"}),
                  {"missing must be one of keep, error, got 'drop'"});
  const auto reader = open_table(path);
  expect_contains(message_of([&] { reader->next(0); }, Error::Kind::usage), {"at least one row"});
  expect_contains(
      message_of([&] { open_table(directory.write("t.parquet", "x")); }, Error::Kind::usage),
      {"t.parquet", "known endings are .csv, .tsv", ".npz"});
  expect_contains(message_of([&] { open_table(""); }, Error::Kind::usage), {"empty"});
}

TEST(Csv, ColumnsThatAreNotThereAreNamed) {
  expect_contains(csv_message("a,b\n1,2\n", {{"c"}, {}, {}, "keep"}),
                  {"has no column 'c'; its columns are a, b"});
  expect_contains(csv_message("a,b\n1,2\n", {{}, {"c"}, {}, "keep"}), {"no column 'c' to drop"});
  expect_contains(csv_message("a,b\n1,2\n", {{}, {}, {"c"}, "keep"}), {"has no column 'c'"});
  expect_contains(csv_message("a,b\n1,2\n", {{}, {"a", "b"}, {}, "keep"}),
                  {"all 2 columns are dropped"});
}

struct BadCsv {
  std::string bytes;
  Names fragments;
};

TEST(Csv, BadFilesGetOneClearLine) {
  using namespace std::string_literals;
  const std::vector<BadCsv> files = {
      {"", {"is empty", "header line"}},
      {"\n\na,b\n", {"first line is blank"}},
      {"a,b\n", {"has a header but no rows"}},
      {"a,b", {"has a header but no rows"}},
      {"1,2\n3,4\n", {"first line holds numbers only", "header line with column names"}},
      {"1,NaN\n3,4\n", {"first line holds numbers only"}},
      {"a,b\n1,2\n3\n", {"row 2 (line 3) has 1 cell but the header has 2"}},
      {"a,b\n1,2,3\n", {"row 1 (line 2) has 3 cells but the header has 2", "delimiters (,)"}},
      {"a,b\n1,2\n\n\n3,4\n", {"row 2 (line 3) is blank but rows follow"}},
      {"a\n1\n\n3\n", {"row 2 (line 3) is blank", "write NA"}},
      {"a,a\n1,2\n", {"columns 1 and 2 are both called 'a'", "rename"}},
      {",a\n0,2\n", {"column 1 has no name", "index=False"}},
      {"a,b\n1,red\n", {"row 1 (line 2), column 'b': 'red' is not a number; correct it"}},
      {"a,b\n1,\"x\ny\"\n", {"'x?y' is not a number"}},
      {"a;b\n1;2,5\n", {"column 'b': '2,5' is not a number", "point instead of the comma"}},
      {"a,b\n1,2\n1,inf\n", {"row 2 (line 3), column 'b': 'inf' is infinite"}},
      {"a,b\n-1e999,2\n", {"row 1 (line 2), column 'a': '-1e999' is infinite or too large"}},
      {"a,b\n\"1\",2\n\"x,3\n4,5\n", {"line 3: a quoted cell is never closed"}},
      {"a,b\n\"1\"x,2\n", {"line 2: text follows a closing quote, 'x,2?'"}},
      {"a,b\r1,2\r", {"line 1: a carriage return stands without a newline"}},
      {"a,b\n1,2\0\n"s, {"line 2: there is a NUL byte", "UTF-8"}},
      {"\xFF\xFE"
       "a\0,\0"s,
       {"is UTF-16 text"}},
      {"\x1F\x8B\x08\x00 x"s, {"is a gzip file", ".csv.gz"}},
      {"PK\x03\x04xx", {"is a zip file"}},
      {"\x93NUMPY\x01", {"is an npy file", ".npy"}},
      {"caf\xE9,b\n1,2\n", {"column 1, 'caf?', is not UTF-8"}},
  };
  for (const auto& file : files) expect_contains(csv_message(file.bytes), file.fragments);
  expect_contains(csv_message("a,b\n1,caf\xE9\n", {{}, {}, {"b"}, "keep"}),
                  {"row 1 (line 2), column 'b': 'caf?' is not UTF-8"});
}

TEST(Csv, AdviceNamesAFlagOnlyWhereThereIsOne) {
  ReadOptions options;
  options.missing = "error";
  for (const std::string cell : {"red", "inf", ""}) {
    options.advice.drop_flag = "";
    const std::string without = csv_message("a,b\n1," + cell + "\n", options);
    expect_contains(without, {"row 1 (line 2), column 'b'"});
    EXPECT_EQ(without.find("--"), std::string::npos) << without;
    options.advice.drop_flag = "--drop";
    expect_contains(csv_message("a,b\n1," + cell + "\n", options),
                    {", or leave the column out with --drop b"});
    options.advice.needed = {"b"};
    EXPECT_EQ(csv_message("a,b\n1," + cell + "\n", options).find("--"), std::string::npos);
    options.advice.needed = {};
  }
  expect_contains(csv_message("a,\"b, c\"\n1,red\n", options), {"--drop '\"b, c\"'"});
  expect_contains(csv_message("a,b\x1B\n1,red\n", options), {"--drop 'b?'"});
}

TEST(Csv, LinesAreCountedThroughQuotedLineBreaks) {
  expect_contains(csv_message("t,x\n\"a\nb\nc\",1\nd,oops\n", {{}, {}, {"t"}, "keep"}),
                  {"row 2 (line 5), column 'x'"});
}

TEST(Csv, FilesThatCannotBeOpenedAreDataErrors) {
  Directory directory;
  expect_contains(message_of([&] { read_table(directory.path("no.csv")); }),
                  {"cannot read", "no.csv", "No such file"});
  std::filesystem::create_directory(directory.path("d.csv"));
  expect_contains(message_of([&] { read_table(directory.path("d.csv")); }), {"is a directory"});
  expect_contains(message_of([&] { read_table(directory.write("t.csv.gz", "a,b\n1,2\n")); }),
                  {"is not a gzip file"});
  const std::string packed = from_hex("1f8b08000000000002034bd449e232d431e232d631");
  expect_contains(message_of([&] { read_table(directory.write("t.csv.gz", packed)); }),
                  {"ends in the middle of its compressed data"});
}

TEST(Csv, RecordsMayCrossTheBuffer) {
  // 3 MB, with quoted line breaks, so that records of every kind lie on buffer borders.
  std::string bytes = "x,t,y\r\n";
  const int64_t count = 60000;
  for (int64_t i = 0; i < count; ++i)
    bytes += std::to_string(i) + ",\"line\r\n\"\"" + std::string(i % 40, 'z') + "\"\"\"," +
             std::to_string(0.5 * i) + "\r\n";
  Directory directory;
  ReadOptions options;
  options.texts = {"t"};
  const Table table = read_table(directory.write("t.csv", bytes), options);
  ASSERT_EQ(table.rows(), count);
  const Tensor index = torch::arange(count, torch::kFloat64);
  expect_values(table, torch::stack({index, 0.5 * index}, 1));
  for (int64_t i = 0; i < count; i += 997)
    EXPECT_EQ(table.texts.at("t")[i], "line\r\n\"" + std::string(i % 40, 'z') + "\"");
}

TEST(Csv, LongRecordsEndSomewhere) {
  // A quote that is left open must not take the whole file into memory.
  const std::string bytes = "a,b\n1,\"" + std::string(size_t{65} << 20, 'x');
  expect_contains(csv_message(bytes), {"line 2", "longer than 64 MiB", "quote left open"});
}

TEST(Csv, ChunksEqualTheWhole) {
  std::string bytes = "a,b,t\n";
  for (int i = 0; i < 100; ++i)
    bytes += std::to_string(i) + "," + (i % 7 == 0 ? "" : std::to_string(i * i)) + ",t" +
             std::to_string(i) + "\n";
  Directory directory;
  const std::string path = directory.write("t.csv", bytes);
  ReadOptions options;
  options.texts = {"t"};
  const Table whole = read_table(path, options);
  for (const int64_t size : {1, 7, 50, 99, 100, 1000}) {
    const auto reader = open_table(path, options);
    std::vector<Tensor> values;
    Names texts;
    while (const auto block = reader->next(size)) {
      EXPECT_LE(block->rows(), size);
      values.push_back(block->values);
      texts.insert(texts.end(), block->texts.at("t").begin(), block->texts.at("t").end());
    }
    EXPECT_EQ(static_cast<int64_t>(values.size()), (100 + size - 1) / size);
    expect_values({whole.columns, torch::cat(values), {}}, whole.values);
    EXPECT_EQ(texts, whole.texts.at("t"));
    EXPECT_FALSE(reader->next(size));
  }
}

}  // namespace
}  // namespace dre
