#include "dre/data/frame_pair.h"

#include <gtest/gtest.h>

#include "dre/data/exceptions.h"
#include "tests/data/files.h"

namespace dre::testing {
namespace {

using Kind = TypedColumn::Kind;

Frame numbers(Kind kind, int different) {
  Frame frame{{{"c", kind, {}, {}, {}}}, 200, 200};
  for (int i = 0; i < 200; ++i) frame.columns[0].numbers.push_back(i % different);
  return frame;
}

/// Row 9 of the file is missing, row 11 has `word`.
Frame words(const std::string& rule, const std::string& word) {
  return {{{"c", Kind::category, {}, {0, -1, 1, 0}, {rule, word}}}, 4, 4, false, {7, 9, 11, 13}};
}

/// Following cells of both frames count.
TEST(FramePair, FewWordsInOneOfTheTwoAreErrors) {
  const auto message = [](Kind kind, const Frame& mixed) {
    return message_of([&] { refuse_exceptions_in("t.csv", mixed, numbers(kind, 100), 0, {}); });
  };
  EXPECT_EQ(message(Kind::number, words("1.5", "4o")),
            "t.csv: row 11, column 'c': '4o' is not a number, but most other cells of the column "
            "are (202 of 203); correct it, write NA for a missing value, or name the column in "
            "--categorical");
  expect_contains(message(Kind::date, words("2024-03-05", "7")), {"row 11", "'7' is not a date"});
}

TEST(FramePair, MarksAreErrorsHoweverManyThereAre) {
  Frame mixed = words("1", "?");
  mixed.columns[0].codes.assign(500, 1);
  mixed.columns[0].codes[0] = 0;
  mixed.file_rows.assign(500, 1);
  expect_contains(
      message_of([&] { refuse_exceptions_in("t.csv", mixed, numbers(Kind::number, 100), 0, {}); }),
      {"'?' is not a number, but other cells", "201 of 700"});
}

TEST(FramePair, WordsAreCategoriesWhereValuesAreFewOrWordsMany) {
  const auto accept = [](const Frame& mixed, const Frame& plain) {
    EXPECT_NO_THROW(refuse_exceptions_in("t.csv", mixed, plain, 0, {}));
  };
  accept(words("1", "4o"), numbers(Kind::number, few_levels));
  accept(words("1", "2"), numbers(Kind::number, 100));
  accept(words("1", "4o"), words("1", "4o"));
  Frame many = words("1", "4o");
  many.columns[0].codes.assign(200, 1);
  many.file_rows.assign(200, 1);
  accept(many, numbers(Kind::number, 100));
}

}  // namespace
}  // namespace dre::testing
