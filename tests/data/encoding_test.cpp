#include <gtest/gtest.h>

#include <cmath>

#include "dre/base/numbers.h"
#include "dre/data/encoding_plan.h"
#include "tests/data/files.h"

namespace dre::testing {
namespace {

using Kind = TypedColumn::Kind;
using Strings = std::vector<std::string>;

const double missing = std::nan("");

Frame numbers(const std::string& name, std::vector<double> values) {
  const auto rows = static_cast<int64_t>(values.size());
  return {{{name, Kind::number, std::move(values), {}, {}}}, rows, rows};
}

/// "" is missing.
Frame words(const std::string& name, const Strings& cells) {
  TypedColumn column{name, Kind::category, {}, {}, {}};
  for (const auto& cell : cells) {
    const auto found = std::find(column.levels.begin(), column.levels.end(), cell);
    column.codes.push_back(cell.empty() ? -1 : static_cast<int32_t>(found - column.levels.begin()));
    if (!cell.empty() && found == column.levels.end()) column.levels.push_back(cell);
  }
  const auto rows = static_cast<int64_t>(cells.size());
  return {{column}, rows, rows};
}

Strings repeated(const std::vector<std::pair<std::string, int>>& counts) {
  Strings out;
  for (const auto& [cell, count] : counts) out.insert(out.end(), count, cell);
  return out;
}

std::vector<double> repeated_numbers(const std::vector<double>& values, int times) {
  std::vector<double> out;
  for (int i = 0; i < times; ++i) out.insert(out.end(), values.begin(), values.end());
  return out;
}

std::vector<double> row(const Encoding& encoding, const Frame& frame, int64_t index) {
  return numbers_of(encoding.encode(frame).values[index]);
}

TEST(Encoding, MissingNumbersGetTheMedianAndAnIndicator) {
  Frame a = numbers("x", {1, 2, missing, 9}), b = numbers("x", {3, 4, 5});
  const Encoding encoding = make_encoding(a, b).encoding;
  EXPECT_EQ(encoding.names(), (Strings{"x", "x is missing"}));
  EXPECT_EQ(row(encoding, a, 2), (std::vector<double>{4, 1}));
  EXPECT_EQ(row(encoding, a, 3), (std::vector<double>{9, 0}));
}

TEST(Encoding, MissingValuesThatTheFitNeverSawAreNoted) {
  Frame a = numbers("x", {1, 2, 3}), b = numbers("x", {3, 4, 5});
  const Encoding encoding = make_encoding(a, b).encoding;
  const auto result = encoding.encode(numbers("x", {1, missing, missing}));
  EXPECT_EQ(result.missing_row, 2);
  EXPECT_EQ(result.missing_column, "x");
  EXPECT_EQ(encoding.encode(a).missing_row, 0);
}

TEST(Encoding, PointMassesInContinuousColumnsGetAnIndicator) {
  std::vector<double> zeros, rounded;
  for (int i = 0; i < 200; ++i) {
    zeros.push_back(i % 5 == 0 ? 0 : std::sin(i) + 2);
    rounded.push_back(i % 10);
  }
  Frame a = numbers("x", zeros), b = numbers("x", zeros);
  EXPECT_EQ(make_encoding(a, b).encoding.names(), (Strings{"x", "x = 0"}));
  Frame c = numbers("x", rounded), d = numbers("x", rounded);
  EXPECT_EQ(make_encoding(c, d).encoding.names(), Strings{"x"});
}

/// One number on a side, and a continuous column on the other: the sides never meet, or they do in
/// the rows of a point mass.
TEST(Encoding, OneValueAgainstAContinuousColumn) {
  const std::vector<double> same(100, 1);
  std::vector<double> without, with;
  for (int i = 0; i < 200; ++i) {
    without.push_back(std::sin(i + 1));
    with.push_back(i % 5 == 0 ? 1 : std::sin(i + 1));
  }
  const auto plan_of = [](Frame a, Frame b) { return make_encoding(a, b); };
  for (const bool first : {true, false}) {
    const auto plan = [&](const std::vector<double>& other) {
      return first ? plan_of(numbers("x", same), numbers("x", other))
                   : plan_of(numbers("x", other), numbers("x", same));
    };
    EXPECT_EQ(plan(without).never_equal, Strings{"x"});
    EXPECT_TRUE(plan(without).encoding.names().empty());
    EXPECT_TRUE(plan(with).never_equal.empty());
    EXPECT_EQ(plan(with).encoding.names(), (Strings{"x", "x = 1"}));
  }
  // Missing on both sides is something in common; a few different numbers are no continuum.
  std::vector<double> gaps = same, holes = without;
  gaps[0] = holes[0] = missing;
  EXPECT_TRUE(plan_of(numbers("x", gaps), numbers("x", holes)).never_equal.empty());
  EXPECT_EQ(plan_of(numbers("x", same), numbers("x", holes)).never_equal, Strings{"x"});
  EXPECT_TRUE(
      plan_of(numbers("x", same), numbers("x", repeated_numbers({2, 3}, 50))).never_equal.empty());
  EXPECT_EQ(plan_of(numbers("x", same), numbers("x", std::vector<double>(50, 2))).never_equal,
            Strings{"x"});
  // Of categories, whichever level is the most frequent; two levels on either side are compared.
  const auto texts = [](const Strings& levels, int64_t rows) {
    TypedColumn column{"c", TypedColumn::Kind::category, {}, {}, levels};
    for (int64_t i = 0; i < rows; ++i)
      column.codes.push_back(static_cast<int32_t>(i % std::ssize(levels)));
    return Frame{{column}, rows, rows};
  };
  for (const int64_t rows : {60, 300}) {
    EXPECT_EQ(plan_of(texts({"a"}, rows), texts({"b", "d"}, 200)).never_equal, Strings{"c"});
    EXPECT_EQ(plan_of(texts({"b", "d"}, 200), texts({"a"}, rows)).never_equal, Strings{"c"});
  }
  EXPECT_TRUE(plan_of(texts({"a"}, 100), texts({"a", "b"}, 100)).never_equal.empty());
  EXPECT_TRUE(plan_of(texts({"a", "e"}, 100), texts({"b", "d"}, 100)).never_equal.empty());
}

TEST(Encoding, NumbersThatDifferInTheirLastDigitsAreNoticed) {
  const auto rounded = [](double origin, double scale) {
    std::vector<double> values;
    for (int i = 0; i < 100; ++i) values.push_back(origin + scale * std::sin(i));
    Frame a = numbers("t", values), b = numbers("t", values);
    return !make_encoding(a, b).rounded.empty();
  };
  EXPECT_TRUE(rounded(1.7e18, 1000));  // nanoseconds: steps of 256
  EXPECT_FALSE(rounded(1.7e18, 1e9));
  EXPECT_FALSE(rounded(1.7e9, 1e-3));
  EXPECT_FALSE(rounded(0, 1e-300));
  EXPECT_FALSE(rounded(1e30, 1e28));
}

TEST(Encoding, TheMostFrequentLevelHasNoColumnAndRareOnesShareOne) {
  Frame a = words("c", repeated({{"oslo", 30}, {"rome", 50}, {"bonn", 6}, {"bern", 2}, {"", 21}}));
  Frame b = words("c", repeated({{"oslo", 30}, {"rome", 50}, {"bonn", 3}, {"kyiv", 2}}));
  const EncodingPlan plan = make_encoding(a, b);
  EXPECT_EQ(plan.encoding.names(), (Strings{"c = oslo", "c = (other)", "c is missing"}));
  EXPECT_EQ(plan.one_sided_levels, Strings{"c is missing (21 rows of the numerator)"});
  EXPECT_EQ(row(plan.encoding, a, 0), (std::vector<double>{1, 0, 0}));
  EXPECT_EQ(row(plan.encoding, a, 30), (std::vector<double>{0, 0, 0}));
  EXPECT_EQ(row(plan.encoding, a, 80), (std::vector<double>{0, 1, 0}));
  EXPECT_EQ(row(plan.encoding, a, 100), (std::vector<double>{0, 0, 1}));
  EXPECT_EQ(row(plan.encoding, b, 81), (std::vector<double>{0, 1, 0}));
  // A new level is one of the others.
  const auto fresh = plan.encoding.encode(words("c", {"lima"}));
  EXPECT_EQ(fresh.unseen, 0);
  EXPECT_EQ(fresh.pooled, 1);
  EXPECT_EQ(plan.encoding.encode(words("c", {"rome", "", "lima", "oslo", "bern"})).pooled, 2);
  EXPECT_EQ(fresh.values[0][1].item<double>(), 1);
}

/// A level that one side lacks by chance is no matter; one that it should have had is, and so are
/// many rare ones together.
TEST(Encoding, OneSidedLevelsAreThoseThatChanceDoesNotExplain) {
  std::vector<std::pair<std::string, int>> left = {{"oslo", 100}, {"z", 15}, {"once", 1}};
  Frame a = words("c", repeated(left)), b = words("c", repeated({{"oslo", 110}, {"kyiv", 2}}));
  EXPECT_EQ(make_encoding(a, b).one_sided_levels, Strings{"c = z (15 rows of the numerator)"});
  std::vector<std::pair<std::string, int>> first, second, shared;
  for (int i = 0; i < 60; ++i) {
    first.push_back({text("a", i), 4});
    second.push_back({text("b", i), 4});
    shared.push_back({text("s", i), 2});
  }
  Frame c = words("zip", repeated(first)), d = words("zip", repeated(second));
  const EncodingPlan disjoint = make_encoding(c, d);
  EXPECT_EQ(
      disjoint.one_sided_levels,
      Strings{"120 rare levels of zip (240 rows of the numerator and 240 of the denominator)"});
  EXPECT_EQ(disjoint.rare_levels, Strings{"zip"});
  EXPECT_TRUE(disjoint.own_levels.columns.empty());  // like orders: nothing but identifiers
  for (auto* levels : {&first, &second}) {
    levels->push_back({"both", 60});
    levels->push_back({"", 100});
  }
  Frame g = words("zip", repeated(first)), h = words("zip", repeated(second));
  const OwnLevels own = make_encoding(g, h).own_levels;
  EXPECT_EQ(own.columns, Strings{"zip"});
  EXPECT_GT(own.numerator, 0.4);
  EXPECT_LT(own.numerator, 0.6);  // 240 of 400 rows, the missing ones counted
  EXPECT_TRUE(own.nothing_shared);
  EXPECT_TRUE(disjoint.id_like.empty());
  Frame e = words("zip", repeated(shared)), f = words("zip", repeated(shared));
  EXPECT_TRUE(make_encoding(e, f).one_sided_levels.empty());
}

TEST(Encoding, PooledLevelsAndFormattedNumbersAreTold) {
  std::vector<std::pair<std::string, int>> levels = {{"big", 40}};
  Strings prices;
  for (int i = 0; i < 40; ++i) {
    levels.push_back({text("rare", i), 2});
    prices.push_back(text("$1,", 100 + i));
  }
  Frame a = words("c", repeated(levels)), b = words("c", repeated(levels));
  EXPECT_EQ(make_encoding(a, b).pooled, Strings{"c (40 levels, 67 % of the rows)"});
  Frame c = words("price", prices), d = words("price", Strings(40, "$2,000"));
  d.columns[0].codes = c.columns[0].codes;
  d.columns[0].levels = c.columns[0].levels;
  for (auto& level : d.columns[0].levels) level += "0";
  const EncodingPlan plan = make_encoding(c, d);
  EXPECT_EQ(plan.id_like, Strings{"price"});
  EXPECT_EQ(plan.formatted, Strings{"price"});
}

TEST(Encoding, TimesThatAreNoDatesAreTold) {
  const auto formatted = [](const std::string& before, const std::string& after) {
    Strings cells;
    for (int i = 10; i < 50; ++i) cells.push_back(before + text(i) + after);
    Frame a = words("c", cells), b = words("c", {"20240105T115959Z"});
    return !make_encoding(a, b).formatted.empty();
  };
  EXPECT_TRUE(formatted("20240105T1200", "Z"));
  EXPECT_TRUE(formatted("2024-01-05T12:00:", ",5+02:00"));
  EXPECT_FALSE(formatted("T", ""));
  EXPECT_FALSE(formatted("Z-", ""));
}

TEST(Encoding, TheRowsOfOneTableCountOnce) {
  Strings ids;
  for (int i = 0; i < 100; ++i) ids.push_back(text("id", i));
  Frame own = words("c", ids);
  EXPECT_EQ(make_encoding(own).id_like, Strings{"c"});
  Frame table = words("c", repeated({{"oslo", 50}, {"rome", 10}, {"bonn", 9}, {"", 30}}));
  const EncodingPlan plan = make_encoding(table);
  EXPECT_EQ(plan.encoding.names(), (Strings{"c = rome", "c = (other)", "c is missing"}));
  EXPECT_TRUE(plan.one_sided_levels.empty());
  EXPECT_TRUE(plan.own_levels.columns.empty());
  EXPECT_EQ(plan.pooled, Strings{"c (1 levels, 13 % of the rows)"});  // 9 of 69 with a value
}

TEST(Encoding, NewLevelsAreCountedWhereNoneIsPooled) {
  Frame a = words("c", repeated({{"oslo", 30}, {"rome", 50}}));
  Frame b = words("c", repeated({{"oslo", 50}, {"rome", 20}}));
  const Encoding encoding = make_encoding(a, b).encoding;
  EXPECT_EQ(encoding.names(), Strings{"c = rome"});
  const auto result = encoding.encode(words("c", {"lima", "rome", "lima"}));
  EXPECT_EQ(result.unseen, 2);
  EXPECT_EQ(result.pooled, 0);
}

TEST(Encoding, KeepsThirtyLevels) {
  Strings cells;
  for (int level = 0; level < 50; ++level)
    for (int i = 0; i < 40 + level; ++i) cells.push_back(text("level", level));
  Frame a = words("c", cells), b = words("c", cells);
  const Encoding encoding = make_encoding(a, b).encoding;
  EXPECT_EQ(encoding.names().size(), 30);  // 30 levels and the others, less the most frequent
  EXPECT_EQ(encoding.raw()[0].levels.size(), 30);
}

TEST(Encoding, RowNumbersAreKeptAndTold) {
  const auto steps = [](double first, double step) {
    std::vector<double> values;
    for (int i = 0; i < 100; ++i) values.push_back(first + step * ((37 * i) % 100));
    return values;
  };
  const auto told = [](const std::vector<double>& first, const std::vector<double>& second) {
    Frame a = numbers("id", first), b = numbers("id", second);
    const EncodingPlan plan = make_encoding(a, b);
    EXPECT_EQ(plan.encoding.names(), Strings{"id"});
    return plan.row_numbers == Strings{"id"};
  };
  EXPECT_TRUE(told(steps(0, 1), steps(100, 1)));
  EXPECT_TRUE(told(steps(-50, 4), steps(7, 3)));  // with gaps: 12 pairs by chance, none is there
  EXPECT_FALSE(told(steps(0, 1000), steps(5, 1000)));  // amounts
  EXPECT_FALSE(told(steps(0, 0.5), steps(100, 0.5)));
  std::vector<double> repeats = steps(0, 1);
  repeats[3] = repeats[4];
  EXPECT_FALSE(told(repeats, steps(100, 1)));
  EXPECT_FALSE(told(steps(100, 1), repeats));
}

TEST(Encoding, LeavesOutWhatTellsNothing) {
  Strings ids;
  for (int i = 0; i < 100; ++i) ids.push_back(text("id", i));
  const auto plan_of = [](Frame a, Frame b) { return make_encoding(a, b); };
  EXPECT_EQ(plan_of(words("c", ids), words("c", ids)).encoding.names(), Strings{});
  Strings others;
  for (int i = 0; i < 100; ++i) others.push_back(text("no", i));
  EXPECT_EQ(plan_of(words("c", ids), words("c", others)).id_like, Strings{"c"});
  EXPECT_EQ(plan_of(words("c", Strings(30, "one")), words("c", Strings(30, "one"))).constant_text,
            Strings{"c"});
  EXPECT_EQ(plan_of(numbers("c", {missing, missing}), words("c", {"", ""})).all_missing,
            Strings{"c"});
  EXPECT_EQ(plan_of(numbers("c", {missing, missing}), numbers("c", {1, 2})).only_on_one_side,
            Strings{"c"});
}

TEST(Encoding, NumbersOnOneSideAndWordsOnTheOtherAreCategories) {
  Frame a = numbers("c", std::vector<double>(40, 1.0));
  Frame b = words("c", repeated({{"1", 20}, {"x", 30}}));
  const EncodingPlan plan = make_encoding(a, b);
  EXPECT_EQ(plan.encoding.names(), Strings{"c = x"});
  EXPECT_EQ(plan.one_sided_levels, Strings{"c = x (30 rows of the denominator)"});
  EXPECT_EQ(plan.encoding.encode(a).values.sum().item<double>(), 0);
  EXPECT_EQ(plan.encoding.encode(b).values.sum().item<double>(), 30);
}

/// Whatever their levels look like: identifiers, rare ones, or a few that repeat.
TEST(Encoding, NumbersAgainstWordsWithoutACommonLevelAreApart) {
  Strings prices, cities;
  for (int i = 0; i < 100; ++i) {
    prices.push_back("EUR " + std::to_string(i));
    cities.push_back(i % 2 ? "rome" : "oslo");
  }
  std::vector<double> values;
  for (int i = 0; i < 100; ++i) values.push_back(i + 0.5);
  for (const Strings& other : {prices, cities}) {
    Frame a = numbers("x", values), b = words("x", other);
    for (int again = 0; again < 2; ++again) {  // planning leaves the frames as they are
      EXPECT_EQ(make_encoding(a, b).kinds_differ, Strings{"x"});
      EXPECT_EQ(make_encoding(b, a).kinds_differ, Strings{"x"});
    }
  }
  cities[0] = "7.5";
  Frame a = numbers("x", values), b = words("x", cities);
  EXPECT_TRUE(make_encoding(a, b).kinds_differ.empty());
}

TEST(Encoding, IsTheSameAfterSavingAndLoading) {
  const std::string munich = "M\xFCnchen";
  Frame a = words("c", repeated({{munich, 30}, {"rome", 50}, {"", 2}}));
  Frame b = words("c", repeated({{munich, 40}, {"rome", 50}, {"x", 5}}));
  const TypedColumn x = numbers("x", std::vector<double>(82, 1.0)).columns[0];
  a.columns.push_back(x);
  std::vector<double> other(95, 2.0);
  other[0] = 1;
  b.columns.push_back(numbers("x", other).columns[0]);
  const Encoding encoding = make_encoding(a, b).encoding;
  const std::string json = encoding.description().dump();  // throws where a text is not UTF-8
  const Encoding loaded = Encoding::load(nlohmann::json::parse(json));
  EXPECT_EQ(loaded.names(), encoding.names());
  EXPECT_EQ(loaded.names()[0], "c = M\\xFCnchen");
  EXPECT_TRUE(loaded.encode(b).values.equal(encoding.encode(b).values));
  EXPECT_EQ(loaded.frame_options().categories, Strings{"c"});
  EXPECT_EQ(loaded.numbers(), Strings{"x"});
}

TEST(Encoding, DamagedDescriptionsAreRefused) {
  const auto good = Encoding(Strings{"x", "y"}).description();
  EXPECT_EQ(Encoding::load(good).names(), (Strings{"x", "y"}));
  for (const char* part : {"raw", "columns"}) {
    auto bad = good;
    bad.erase(part);
    EXPECT_THROW(Encoding::load(bad), Error);
  }
  auto bad = good;
  bad["columns"][0]["source"] = 7;
  EXPECT_THROW(Encoding::load(bad), Error);
}

TEST(Encoding, SelectKeepsWhatItsColumnsNeed) {
  Frame a = words("c", repeated({{"oslo", 30}, {"rome", 50}, {"bonn", 40}}));
  Frame b = a;
  a.columns.push_back(numbers("x", std::vector<double>(120, 1.0)).columns[0]);
  b.columns.push_back(a.columns[1]);
  const Encoding encoding = make_encoding(a, b).encoding;
  EXPECT_EQ(encoding.names(), (Strings{"c = bonn", "c = oslo", "x"}));
  const Encoding part = encoding.select({2});
  EXPECT_EQ(part.raw_names(), Strings{"x"});
  EXPECT_EQ(part.names(), Strings{"x"});
}

}  // namespace
}  // namespace dre::testing
