#include "dre/base/names.h"

#include <gtest/gtest.h>

namespace dre::testing {
namespace {

using Strings = std::vector<std::string>;

TEST(Names, ListsComeBack) {
  for (const Strings& names : std::vector<Strings>{{},
                                                   {"a"},
                                                   {"a", "b c"},
                                                   {"income, USD", "x"},
                                                   {"5\" pipe", "\"", ","},
                                                   {"a\",b", "\"c\""}})
    EXPECT_EQ(split_comma_list(comma_list(names)), names) << comma_list(names);
}

TEST(Names, ListsAsTheyAreTyped) {
  EXPECT_EQ(comma_list({"a", "b"}), "a,b");
  EXPECT_EQ(split_comma_list("a,b"), (Strings{"a", "b"}));
  EXPECT_EQ(split_comma_list("a,,b,"), (Strings{"a", "", "b"}));
  EXPECT_EQ(split_comma_list("\"a,b\",c"), (Strings{"a,b", "c"}));
  EXPECT_EQ(split_comma_list("5\" pipe,c"), (Strings{"5\" pipe", "c"}));
  EXPECT_EQ(split_comma_list("a,\"b"), std::nullopt);
  EXPECT_EQ(split_comma_list("a,\"b\"\""), std::nullopt);
}

TEST(Names, NearestAreThoseOfAFewLettersOrTheSameBeginning) {
  const Strings names = {"steps", "look-rows", "rate", "noise-model"};
  EXPECT_EQ(nearest("stepz", names), "steps");
  EXPECT_EQ(nearest("look-row", names), "look-rows");
  EXPECT_EQ(nearest("noise", names), "noise-model");
  EXPECT_EQ(nearest("rates-of-all", names), "rate");
  EXPECT_EQ(nearest("columns", names), "");
  EXPECT_EQ(nearest("", names), "");
  EXPECT_EQ(nearest("n", {"x", "y"}), "");
  EXPECT_EQ(nearest("steps", {}), "");
}

TEST(Names, ListsForAShell) {
  EXPECT_EQ(shell_list({"a", "Größe"}), "a,Größe");
  EXPECT_EQ(shell_list({"income, USD", "b"}), "'\"income, USD\",b'");
  EXPECT_EQ(shell_list({"it's"}), "'it'\\''s'");
  EXPECT_EQ(shell_word("some/folder"), "some/folder");
  EXPECT_EQ(shell_word("my files"), "'my files'");
  EXPECT_EQ(shell_word(""), "''");
}

}  // namespace
}  // namespace dre::testing
