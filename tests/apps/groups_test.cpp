#include "dre/apps/groups.h"

#include <gtest/gtest.h>

#include <limits>

#include "tests/apps/numeric_sides.h"
#include "tests/data/files.h"

namespace dre::testing {
namespace {

TEST(Groups, WhatOneGroupFixesIsTold) {
  const Directory directory;
  std::string csv = "a,b,c\n";
  for (int i = 0; i < 60; ++i) csv += text(i * 7 % 60, ",", i * 7 % 60 * 3 + 1, ",", i % 2, "\n");
  GroupsOptions options;
  options.data = directory.write("t.csv", csv);
  const auto codes = [&](const char* x, const char* y) {
    options.x = {x};
    options.y = {y};
    Strings found;
    for (const auto& [code, message] : load_groups(options).warnings) found.push_back(code);
    return found;
  };
  EXPECT_EQ(codes("a", "b"), Strings{"no-bound"});
  EXPECT_EQ(codes("a", "c"), Strings{});
}

TEST(Groups, OfTensorsAreJudgedAsThoseOfFiles) {
  auto generator = stream("groups of tensors");
  const Tensor x = rows(60, 2, 0, generator), other = rows(60, 1, 0, generator);
  const Groups free = make_groups(x, other.to(torch::kFloat32));
  EXPECT_EQ(free.x_names, (Strings{"x0", "x1"}));
  EXPECT_EQ(free.y_names, Strings{"y0"});
  EXPECT_EQ(free.y.scalar_type(), torch::kFloat64);
  EXPECT_FALSE(free.no_bound);
  EXPECT_TRUE(free.warnings.empty());
  const Groups fixed = make_groups(x, 2 * x.slice(1, 0, 1) + 1, {"a", "b"}, {"c"});
  EXPECT_EQ(fixed.x_names, (Strings{"a", "b"}));
  EXPECT_TRUE(fixed.no_bound);
  ASSERT_EQ(fixed.warnings.size(), 1);
  EXPECT_EQ(fixed.warnings[0].code, "no-bound");
  const auto refused = [&](const Tensor& y, const Strings& names, Error::Kind kind) {
    return message_of([&] { make_groups(x, y, names); }, kind);
  };
  const Tensor holes = other.clone().fill_(NAN);
  expect_contains(refused(holes, {}, Error::Kind::data), {"the group y", "not finite"});
  expect_contains(refused({}, {}, Error::Kind::usage), {"the group y", "must be a table"});
  expect_contains(refused(other.select(1, 0), {}, Error::Kind::usage), {"[rows, columns]"});
  expect_contains(refused(other.slice(0, 1), {}, Error::Kind::usage), {"same rows", "60", "59"});
  expect_contains(refused(other, {"a"}, Error::Kind::usage), {"2 columns, but 1 name"});
}

TEST(Groups, AreNamedOrCounted) {
  const Directory directory;
  std::string csv = "a,b,c\n";
  for (int i = 0; i < 60; ++i) csv += text(i, ",", i % 2 ? "u" : "v", ",", i * i, "\n");
  GroupsOptions options;
  options.data = directory.write("t.csv", csv);
  const Groups counted = load_groups(options, 1, 2);
  EXPECT_EQ(counted.x_names, Strings{"a"});
  EXPECT_EQ(counted.y_names, (Strings{"b = v", "c"}));
  GroupsOptions headless;
  std::string numbers_alone;
  for (int i = 0; i < 12; ++i) numbers_alone += text(1.5 + i * 7 % 12, ",", i, ",", i % 2, "\n");
  headless.data = directory.write("h.csv", numbers_alone);
  const Groups numbers = load_groups(headless, 2, 1);
  EXPECT_EQ(numbers.x_names, (Strings{"x0", "x1"}));
  EXPECT_EQ(numbers.x[0][0].item<double>(), 1.5);
  EXPECT_EQ(numbers.y.size(0), 12);
  headless.x = {"x0"};
  headless.y = {"x1"};
  expect_contains(message_of([&] { load_groups(headless); }), {"first line holds numbers only"});
  options.x = {"c"};
  options.y = {"a"};
  EXPECT_EQ(load_groups(options).x_names, Strings{"c"});
  auto twice = options, unknown = options;
  twice.x = {"c", "c"};
  expect_contains(message_of([&] { load_groups(twice); }, Error::Kind::usage),
                  {"--x names column 'c' twice"});
  unknown.categorical = {"b"};
  expect_contains(message_of([&] { load_groups(unknown); }, Error::Kind::usage),
                  {"--categorical names column 'b'", "they hold c, a"});
  options.y = {};
  expect_contains(message_of([&] { load_groups(options); }, Error::Kind::usage), {"--x and --y"});
  options.x = {};
  expect_contains(message_of([&] { load_groups(options, 2, 2); }),
                  {"has 3 columns", "2 and 2 are asked"});
  const int64_t most = std::numeric_limits<int64_t>::max();
  expect_contains(message_of([&] { load_groups(options, most, most); }), {"has 3 columns"});
}

TEST(Groups, TellOfCopiesAndAreSampledByTheirSeed) {
  auto generator = stream("copied groups");
  const Tensor x = rows(200, 2, 0, generator);
  std::string once = "a,b\n";
  for (int64_t i = 0; i < 200; ++i)
    once += text(x[i][0].item<double>(), ",", x[i][1].item<double>(), "\n");
  const Directory directory;
  GroupsOptions options;
  options.x = {"a"};
  options.y = {"b"};
  options.data = directory.write("once.csv", once);
  EXPECT_TRUE(load_groups(options).warnings.empty());
  options.max_rows = 50;
  EXPECT_TRUE(load_groups(options, 0, 0, 1).x.equal(load_groups(options, 0, 0, 1).x));
  EXPECT_FALSE(load_groups(options, 0, 0, 1).x.equal(load_groups(options, 0, 0, 2).x));
  options.max_rows = 1000;
  options.data = directory.write("twice.csv", once + once.substr(4));
  ASSERT_EQ(load_groups(options).warnings.size(), 1);
  expect_contains(load_groups(options).warnings[0].message, {"200 of the 400 rows"});
  std::string grid = "a,b\n";
  for (int i = 0; i < 400; ++i) grid += text(i % 40, ",", i % 40 < 17, "\n");
  options.data = directory.write("grid.csv", grid);
  const auto warnings = load_groups(options).warnings;
  ASSERT_EQ(warnings.size(), 1);
  EXPECT_EQ(warnings[0].code, "repeated-rows");
}

}  // namespace
}  // namespace dre::testing
