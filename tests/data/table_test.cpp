#include "dre/data/table.h"

#include <gtest/gtest.h>

#include "dre/data/place.h"
#include "tests/data/files.h"

namespace dre {
namespace {

using namespace dre::testing;

const Table& small_table() {
  static const Table table{
      {"a", "b", "c"}, torch::arange(6, torch::kFloat64).reshape({2, 3}), {{"t", {"x", "y"}}}};
  return table;
}

TEST(Table, ColumnsAreFoundByNameInAnyOrder) {
  const Tensor& values = small_table().values;
  EXPECT_TRUE(torch::equal(select_columns(small_table(), {"c", "a"}),
                           values.index({torch::indexing::Slice(), torch::tensor({2, 0})})));
  EXPECT_TRUE(torch::equal(select_columns(small_table(), {"a", "b", "c"}), values));
  EXPECT_EQ(select_columns(small_table(), {}).sizes(), (std::vector<int64_t>{2, 0}));
  EXPECT_EQ(small_table().rows(), 2);
  EXPECT_EQ(Table{}.rows(), 0);
}

TEST(Table, MissingColumnsAreListed) {
  EXPECT_EQ(message_of([] {
              select_columns(small_table(), {"z", "a", "y"});
            }),
            "the table has no column z, y; its columns are a, b, c");
  EXPECT_EQ(message_of([] { select_columns(small_table(), {"t"}); }),
            "column t was read as text, but numbers are needed");
}

TEST(Place, SaysWhatIsKnown) {
  EXPECT_EQ((Place{"t.csv", 3, 4, "age"}.describe()), "t.csv: row 3 (line 4), column 'age'");
  EXPECT_EQ((Place{"t.npy", 3, 0, "x0"}.describe()), "t.npy: row 3, column 'x0'");
  EXPECT_EQ((Place{"t.csv", 0, 4, ""}.describe()), "t.csv: line 4");
  EXPECT_EQ((Place{"t.csv", 0, 0, "age"}.describe()), "t.csv: column 'age'");
}

TEST(Place, PiecesAreShortAndPrintable) {
  EXPECT_EQ(shown("a\nb\x7F\xFF"),
            "'a?b?"
            "?'");
  EXPECT_EQ(shown("\xC3\xA9"), "'\xC3\xA9'");
  EXPECT_EQ(shown(std::string(100, 'x')), text("'", std::string(40, 'x'), "...'"));
  EXPECT_EQ(listed({}), "none");
  EXPECT_EQ(listed(std::vector<std::string>(22, "a")).substr(51), "a, a, a, and 2 more");
}

TEST(Place, Utf8IsChecked) {
  for (const char* good : {"", "abc", "\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x98\x80"})
    EXPECT_TRUE(is_utf8(good)) << good;
  for (const char* bad : {"\xE9", "\xC0\x80", "\xE0\x80\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80",
                          "\xF8\x88\x80\x80\x80", "\xE2\x82", "\x80"})
    EXPECT_FALSE(is_utf8(bad)) << bad;
}

TEST(Place, OtherBytesArePrintable) {
  EXPECT_EQ(printable("caf\xC3\xA9"), "caf\xC3\xA9");
  EXPECT_EQ(printable("caf\xE9\n"), "caf\\xE9\\x0A");
  EXPECT_EQ(printable("\xFF\xFE"), "\\xFF\\xFE");
}

TEST(Place, CountsKeepTheirDigits) {
  EXPECT_EQ(count_text(0), "0");
  EXPECT_EQ(count_text(32561), "32561");
  EXPECT_EQ(count_text(1234567.9), "1234567");
  EXPECT_EQ(count_text(152 * (1 - 1e-15)), "152");
  EXPECT_EQ(count_text(3e9), "3000000000");
}

}  // namespace
}  // namespace dre
