#include "dre/data/frame.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>

#include "dre/data/date.h"
#include "dre/data/frames_by_value.h"
#include "dre/data/reader.h"
#include "tests/data/files.h"

namespace dre::testing {
namespace {

using Kind = TypedColumn::Kind;
using Strings = std::vector<std::string>;

std::unique_ptr<TableReader> open_words(const std::string& csv) {
  const Directory directory;
  ReadOptions read;
  read.words = "keep";
  return open_table(directory.write("t.csv", csv), read);
}

Frame read_frame(const std::string& csv, const FrameOptions& options = {}, int64_t block = 3) {
  const auto reader = open_words(csv);
  FrameBuilder builder("t.csv", reader->columns(), options);
  while (const auto rows = reader->next(block)) builder.add(*rows);
  return std::move(builder).finish();
}

std::map<std::string, Frame> read_by_value(const std::string& csv, const std::string& column,
                                           const FrameOptions& options = {}, int64_t block = 3) {
  const auto reader = open_words(csv);
  FramesByValue frames("t.csv", reader->columns(), column, options);
  while (const auto rows = reader->next(block)) frames.add(*rows);
  return std::move(frames).finish();
}

/// Each cell of a category as text; "?" is missing.
Strings texts(const TypedColumn& column) {
  Strings out;
  for (const int32_t code : column.codes)
    out.push_back(code < 0 ? "?" : column.levels[static_cast<size_t>(code)]);
  return out;
}

TEST(Date, IsDaysSince1970) {
  EXPECT_EQ(parse_date("1970-01-01"), 0);
  EXPECT_EQ(parse_date("2000/03/01"), 11017);
  EXPECT_EQ(parse_date("1969-12-31T12:00"), -0.5);
  EXPECT_EQ(parse_date("1970-01-02 06:00:00Z"), 1.25);
  EXPECT_EQ(parse_date("1970-01-01T00:00:43.2"), 0.0005);
  for (const char* text : {"", "1970", "1970-1-1", "1970-13-01", "1970-02-30", "1970-01/01",
                           "1970-01-01x", "1970-01-01T", "1970-01-01T25:00", "rome"})
    EXPECT_EQ(parse_date(text), std::nullopt) << text;
}

TEST(Date, IsThatOfUtcWhereAnOffsetIsGiven) {
  const double noon = parse_date("2024-01-05T12:00:00").value();
  for (const char* text :
       {"2024-01-05T12:00:00+00:00", "2024-01-05 14:00:00+0200", "2024-01-05T07:00:00-05",
        "2024-01-05T17:30+05:30", "2024-01-04 23:59:00-12:01", "2024-01-06T00:15:00.000+12:15"})
    EXPECT_NEAR(parse_date(text).value_or(0), noon, 1e-9) << text;
  EXPECT_NEAR(parse_date("1970-01-01T01:00:43.2+01").value_or(1), 0.0005, 1e-12);
  EXPECT_EQ(date_text(parse_date("2024-01-05 00:30:00+02:00").value()), "2024-01-04T22:30:00");
  for (const char* end : {"+", "+2", "+02:", "+02:0", "+020", "+24", "+02:60", "+02:00Z",
                          "+02:00:00", "Z+02", " +02:00", "~02"})
    EXPECT_EQ(parse_date(std::string("2024-01-05T12:00:00") + end), std::nullopt) << end;
  EXPECT_EQ(parse_date("2024-01-05+02:00"), std::nullopt);
}

TEST(Date, IsWrittenBack) {
  for (const char* text : {"1970-01-01", "1969-12-31", "2024-02-29", "1600-01-01",
                           "2024-03-05T14:30:05", "1969-12-31T23:59:59"})
    EXPECT_EQ(date_text(parse_date(text).value()), text);
}

TEST(Frame, KindsFollowFromTheCells) {
  const Frame frame = read_frame(
      "number,date,word,mixed\n"
      "1,2020-01-02,rome,1.0\n"
      "NA,,\"a, b\",x\n"
      "3,2020-01-03,,2020-01-01\n"
      "4.5,2020-01-04,rome,1\n");
  ASSERT_EQ(frame.rows, 4);
  EXPECT_EQ(frame.columns[0].kind, Kind::number);
  EXPECT_EQ(frame.columns[0].missing(), 1);
  EXPECT_EQ(frame.columns[0].numbers[3], 4.5);
  EXPECT_EQ(frame.columns[1].kind, Kind::date);
  EXPECT_EQ(frame.columns[1].numbers[2] - frame.columns[1].numbers[0], 1);
  EXPECT_EQ(frame.columns[1].missing(), 1);
  EXPECT_EQ(texts(frame.columns[2]), (Strings{"rome", "a, b", "?", "rome"}));
  EXPECT_EQ(texts(frame.columns[3]), (Strings{"1", "x", "2020-01-01", "1"}));
}

TEST(Frame, DatesAndNumbersInOneColumnAreTexts) {
  for (const char* csv : {"c\n2020-01-02\n7\n2020-01-03\n", "c\n7\n2020-01-02\n2020-01-03\n"}) {
    const Frame frame = read_frame(csv);
    EXPECT_EQ(frame.columns[0].kind, Kind::category);
    EXPECT_EQ(frame.columns[0].levels.size(), 3);
  }
}

TEST(Frame, KindsCanBeGiven) {
  FrameOptions options;
  options.categories = {"c"};
  EXPECT_EQ(texts(read_frame("c\n1\n2.0\nNA\n", options).columns[0]), (Strings{"1", "2", "?"}));
  EXPECT_EQ(texts(read_frame("c\n2024/03/05\n2024-03-05 00:00:00.1\n", options).columns[0]),
            (Strings{"2024/03/05", "2024-03-05 00:00:00.1"}));
  options = {};
  options.dates = {"c"};
  expect_contains(message_of([&] { read_frame("c\n2020-01-02\nrome\n", options); }),
                  {"t.csv: row 2, column 'c'", "'rome' is not a date"});
  expect_contains(message_of([&] { read_frame("c\n2020-01-02\n3\n", options); }),
                  {"t.csv: row 2, column 'c'", "3 is not a date"});
}

TEST(Frame, AFewWordsAmongNumbersAreErrors) {
  std::string csv = "c,d\n";
  for (int i = 0; i < 200; ++i) csv += text(i, ",", i % 7, "\n");
  expect_contains(message_of([&] { read_frame(csv + "1.5.2,1\n"); }),
                  {"t.csv: row 201, column 'c'", "'1.5.2' is not a number", "--categorical"});
  // Among few distinct numbers a word is one more category.
  EXPECT_EQ(read_frame(csv + "1,x\n").columns[1].levels.size(), 8);
}

/// Marks of missing values are not categories, however many there are.
TEST(Frame, MarksAmongNumbersAreErrors) {
  const auto numbers_and = [](const std::vector<std::string>& words, int rows) {
    std::string csv = "c\n";
    for (int i = 0; i < rows; ++i)
      csv += i % 3 > 0 ? words[static_cast<size_t>(i) % words.size()] + "\n" : text(i, "\n");
    return csv;
  };
  expect_contains(
      message_of([&] { read_frame(numbers_and({"?"}, 300)); }),
      {"t.csv: row 2, column 'c': '?' is not a number, but other cells", "100 of 300", "write NA"});
  EXPECT_THROW(read_frame(numbers_and({"?", "-", "n/a"}, 300)), Error);
  EXPECT_EQ(read_frame(numbers_and({"a", "b", "c", "d"}, 300)).columns[0].levels.size(), 104);
  EXPECT_EQ(read_frame(numbers_and({"?"}, 90)).columns[0].levels.size(), 31);
}

TEST(Frame, AFewWordsAmongDatesAreErrors) {
  std::string csv;
  for (int i = 0; i < 200; ++i) csv += text("2024-03-05 ", 10 + i / 60, ":", 10 + i % 50, "\n");
  const Strings place = {"t.csv: row 201, column 'c'", "is not a date", "200 of 201"};
  for (const char* wrong : {"n.a.", "7"}) {
    expect_contains(message_of([&] { read_frame("c\n" + csv + wrong + "\n"); }), place);
    expect_contains(message_of([&] { read_frame(text("c\n", wrong, "\n", csv)); }),
                    {"t.csv: row 1, column 'c'", "is not a date"});
  }
}

/// Whatever comes first.
TEST(Frame, TextsOfACategoryDoNotDependOnTheOrderOfRows) {
  const Strings cells = {"INF", "2024/03/05", "1e999", "NA", "ab"};
  std::vector<size_t> order = {0, 1, 2, 3, 4};
  do {
    std::string csv = "c\n";
    for (const size_t i : order) csv += cells[i] + "\n";
    const Strings found = texts(read_frame(csv).columns[0]);
    for (size_t i = 0; i < order.size(); ++i) {
      const std::string& cell = cells[order[i]];
      EXPECT_EQ(found[i], cell == "NA" ? "?" : cell == "2024/03/05" ? "2024-03-05" : cell) << csv;
    }
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST(Frame, InfiniteNumbersAreErrorsInNumbersAndTextInCategories) {
  expect_contains(message_of([] { read_frame("c\n1\n2\n3\n4\n1e999\n"); }),
                  {"t.csv: row 5, column 'c'", "1e999", "infinite"});
  EXPECT_EQ(texts(read_frame("c\nab\n12e4567\n").columns[0]), (Strings{"ab", "12e4567"}));
}

TEST(Frame, BytesThatAreNoUtf8AreKept) {
  EXPECT_EQ(texts(read_frame("c\nM\xFCnchen\nrome\n").columns[0]), (Strings{"M\xFCnchen", "rome"}));
}

TEST(Frame, OfMoreRowsAFairSampleIsKept) {
  std::string csv = "c\n";
  for (int i = 0; i < 4000; ++i) csv += text(i, "\n");
  FrameOptions options;
  options.max_rows = 1000;
  const Frame frame = read_frame(csv, options, 64);
  EXPECT_EQ(frame.rows, 1000);
  EXPECT_EQ(frame.rows_read, 4000);
  const Tensor kept = torch::tensor(frame.columns[0].numbers, torch::kFloat64);
  // The mean of 1000 of 0..3999: standard error 1155 / sqrt(1000) * sqrt(3/4) = 31.6
  EXPECT_NEAR(kept.mean().item<double>(), 1999.5, 4 * 31.6);
  EXPECT_EQ(std::get<0>(at::_unique(kept)).size(0), 1000);
  EXPECT_TRUE(frame.sampled);
  EXPECT_TRUE(torch::tensor(frame.file_rows).equal((kept + 1).to(torch::kInt64)));
  EXPECT_FALSE(read_frame(csv).sampled);
}

/// Every 40th row is "rare"; its rows are all kept while the others are sampled.
TEST(FramesByValue, EachSideIsSampledApart) {
  std::string csv = "c,side\n";
  for (int i = 1; i <= 4000; ++i) csv += text(i, i % 40 == 7 ? ",rare\n" : ",1.0\n");
  FrameOptions options;
  options.max_rows = 1000;
  auto frames = read_by_value(csv, "side", options, 64);
  ASSERT_EQ(frames.size(), 2);
  const Frame &rare = frames.at("rare"), &other = frames.at("1");
  EXPECT_EQ(rare.rows, 100);
  EXPECT_FALSE(rare.sampled);
  EXPECT_EQ(other.rows, 1000);
  EXPECT_EQ(other.rows_read, 3900);
  EXPECT_TRUE(other.sampled);
  for (const auto& [value, frame] : frames) {
    ASSERT_EQ(frame.columns.size(), 1) << value;
    const Tensor kept = torch::tensor(frame.columns[0].numbers, torch::kFloat64);
    EXPECT_TRUE(torch::tensor(frame.file_rows).equal(kept.to(torch::kInt64))) << value;
    // Standard error of the mean of 1000 rows of 3900: 1155 / sqrt(1000) * sqrt(0.74) = 31.5
    EXPECT_NEAR(kept.mean().item<double>(), 2000, 4 * 31.5) << value;
  }
}

/// What a column holds is judged over both sides.
TEST(FramesByValue, ColumnsHaveOneKind) {
  std::string ages = "age,side\n", codes = "code,side\n", ticks = "tick,side\n";
  for (int i = 0; i < 600; ++i) {
    ages += text(i == 450 ? "4o" : std::to_string(18 + i % 67), ",", i % 2, "\n");
    codes += text(i % 2 == 0 && i > 5 ? "" : "P", i, ",", i % 2, "\n");
    ticks += text(i % 2 == 0 && i % 3 > 0 ? "OK" : "INF", ",", i % 2, "\n");
  }
  expect_contains(message_of([&] { read_by_value(ages, "side"); }),
                  {"row 451", "'4o' is not a number", "599 of 600"});
  for (const auto& csv : {codes, ticks}) {
    const auto frames = read_by_value(csv, "side", {}, 64);
    EXPECT_EQ(frames.size(), 2U);
    for (const auto& [value, frame] : frames) {
      EXPECT_EQ(frame.columns[0].kind, Kind::category) << value;
      EXPECT_EQ(frame.columns[0].rows(), 300) << value;
      EXPECT_EQ(frame.columns[0].missing(), 0) << value;
    }
  }
}

TEST(FramesByValue, ErrorsTellTheRow) {
  const auto message = [](const std::string& csv) {
    return message_of([&] { read_by_value(csv, "side"); });
  };
  expect_contains(message("c,side\n1,a\n2,b\n3,a\n4,b\n5,c\n"),
                  {"t.csv: row 5", "'side'", "c", "a", "third"});
  expect_contains(message("c,side\n1,a\n2,b\n3,a\n4,\n5,b\n"),
                  {"t.csv: row 4", "'side'", "missing"});
  expect_contains(message("c,side\n1,a\n2,a\n"), {"t.csv", "'side'", "two values", "only 'a'"});
  // Of the cells of a side whose first row is in a later block, too.
  expect_contains(message("c,side\n1,a\n2,a\n3,a\n4,a\ninf,b\n6,b\n"),
                  {"t.csv: row 5", "'c'", "inf"});
}

TEST(Frame, TextsThatAllDifferAreGivenUp) {
  FrameBuilder builder("t.csv", {"id"}, {});
  for (int64_t block = 0; block < 12; ++block) {
    Table table{{"id"}, torch::full({10000, 1}, std::nan(""), torch::kFloat64), {}, {{}}};
    for (int64_t i = 0; i < 10000; ++i) table.words[0].push_back({i, text("id", block, "-", i)});
    builder.add(table);
  }
  const Frame frame = std::move(builder).finish();
  EXPECT_TRUE(frame.columns[0].id_like);
  EXPECT_TRUE(frame.columns[0].levels.empty());
}

}  // namespace
}  // namespace dre::testing
