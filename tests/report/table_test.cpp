#include "dre/report/table.h"

#include <gtest/gtest.h>

#include <limits>

#include "dre/base/error.h"

namespace dre::report {
namespace {

Table sample_table() {
  return {"MSE of log r",
          {"method", "paper", "ours"},
          {{"NCE|x", 952.8, {1234.5, 67.8}}, {"TRE", {}, 0.0612345}},
          "five seeds"};
}

TEST(Numbers, KeepTheDigitsThatTheErrorLeavesSenseIn) {
  EXPECT_EQ(number(0.0612345), "0.06123");
  EXPECT_EQ(number(9366739), "9366739");
  EXPECT_EQ(number(-40000.2), "-40000");
  EXPECT_EQ(number(9999.49), "9999");
  EXPECT_EQ(number(2.5e11), "2.5e+11");
  EXPECT_EQ(number(0.0612345, 0.0041), "0.0612 ± 0.0041");
  EXPECT_EQ(number(1234.5, 67.8), "1234 ± 68");
  EXPECT_EQ(number(3, 0), "3 ± 0");
  EXPECT_EQ(number(std::numeric_limits<double>::quiet_NaN()), "–");
  EXPECT_EQ(number(std::numeric_limits<double>::infinity(), 1), "∞");
  EXPECT_EQ(number(2, std::numeric_limits<double>::quiet_NaN()), "2");
}

TEST(TableText, NumbersStandToTheRightInLine) {
  EXPECT_EQ(to_text(sample_table()),
            "MSE of log r\n"
            "method  paper       ours\n"
            "------  -----  ---------\n"
            "NCE|x   952.8  1234 ± 68\n"
            "TRE         –    0.06123\n"
            "five seeds\n");
}

TEST(TableText, AWordAmongNumbersStandsWithThem) {
  const Table table{"", {"method", "paper"}, {{"NCE", 952.8}, {"TRE", "missing"}}, ""};
  EXPECT_EQ(to_text(table),
            "method    paper\n"
            "------  -------\n"
            "NCE       952.8\n"
            "TRE     missing\n");
}

TEST(TableMarkdown, EscapesBarsAndMarksStrongCells) {
  Table table = sample_table();
  table.rows[1][2].strong = true;
  EXPECT_EQ(to_markdown(table),
            "MSE of log r\n\n"
            "| method | paper | ours |\n"
            "|---|--:|--:|\n"
            "| NCE\\|x | 952.8 | 1234 ± 68 |\n"
            "| TRE | – | **0.06123** |\n"
            "\nfive seeds\n");
}

TEST(TableJson, KeepsFullPrecisionAndTellsNothingFromWords) {
  const auto json = to_json(sample_table());
  EXPECT_EQ(json["rows"][0]["method"], "NCE|x");
  EXPECT_EQ(json["rows"][0]["ours"]["standard_error"], 67.8);
  EXPECT_TRUE(json["rows"][1]["paper"].is_null());
  EXPECT_EQ(json["rows"][1]["ours"], 0.0612345);
}

TEST(TableShape, RowsOfAnotherLengthAreRefused) {
  Table table = sample_table();
  table.rows[0].pop_back();
  EXPECT_THROW(to_text(table), Error);
  EXPECT_THROW(to_markdown(table), Error);
  EXPECT_THROW(to_json(table), Error);
}

}  // namespace
}  // namespace dre::report
