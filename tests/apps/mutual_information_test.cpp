#include "dre/apps/mutual_information.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/apps/numeric_sides.h"
#include "tests/data/files.h"

namespace dre::testing {
namespace {

/// k: four levels, of which half of the rows have the first; name: the same renamed; pair: whether
/// it is the first; x and z: numbers.
std::string levels_csv() {
  std::string csv = "k,name,pair,x,z,many\n";
  for (int i = 0; i < 600; ++i) {
    const char level = "aaabcd"[i % 6];
    csv += text(level, ",n", level, ",", level < 'b' ? "u" : "v", ",", i * 7 % 600, ",",
                i * i % 601, ",m", i % 100, "\n");
  }
  return csv;
}

/// What categories tell is at most their entropy, which the estimate of a relation without
/// exceptions exceeds.
TEST(InformationOfCategories, EndsAtTheirEntropy) {
  const Directory directory;
  GroupsOptions options;
  options.data = directory.write("t.csv", levels_csv());
  const auto groups = [&](const Strings& x, const Strings& y) {
    options.x = x;
    options.y = y;
    return load_groups(options);
  };
  const double of_level = 0.5 * std::log(2) + 0.5 * std::log(6), of_pair = std::log(2);
  EXPECT_NEAR(groups({"k"}, {"name"}).entropy, of_level, 1e-12);
  EXPECT_NEAR(groups({"k"}, {"x"}).entropy, of_level, 1e-12);
  EXPECT_NEAR(groups({"k", "pair"}, {"x"}).entropy, of_level, 1e-12);  // pair adds nothing
  EXPECT_NEAR(groups({"pair"}, {"k"}).entropy, of_pair, 1e-12);
  EXPECT_NEAR(groups({"k", "x"}, {"name"}).entropy, of_level, 1e-12);  // of y alone
  EXPECT_TRUE(std::isinf(groups({"k", "x"}, {"z"}).entropy));
  EXPECT_TRUE(std::isinf(groups({"many"}, {"x"}).entropy));  // of pooled levels nobody knows

  MutualInformationOptions quick;
  quick.fit = reference_alone(0);
  quick.fit.method = "auto";
  Progress silent;
  Groups same = groups({"k"}, {"name"});
  const Divergence capped = mutual_information(same, quick, silent).information;
  EXPECT_EQ(capped.value, same.entropy);
  EXPECT_EQ(capped.high, std::log(4));
  EXPECT_LT(capped.low, same.entropy);
  same.entropy = same.largest_entropy = std::numeric_limits<double>::infinity();
  const Divergence free = mutual_information(same, quick, silent).information;
  EXPECT_GT(free.value, of_level);
  EXPECT_EQ(free.low, capped.low);
}

TEST(InformationOfFunctions, IsToldAsThatOfEqualColumns) {
  const Directory directory;
  std::string csv = "x,square,same,level\n";
  for (int i = 0; i < 200; ++i) {
    const double x = 0.01 * (i * 77 % 200) - 0.7;
    csv += text(x, ",", x * x, ",", 2 * x + 1, ",", i % 3, "\n");
  }
  GroupsOptions options;
  options.data = directory.write("t.csv", csv);
  options.x = {"x"};
  const auto told = [&](const char* y) {
    options.y = {y};
    return load_groups(options).warnings;
  };
  ASSERT_EQ(told("square").size(), 1);
  EXPECT_EQ(told("square")[0].code, "no-bound");
  expect_contains(told("square")[0].message, {"is a function of", "no bound", "rows support"});
  ASSERT_EQ(told("same").size(), 1);
  EXPECT_EQ(told("same")[0].message, told("square")[0].message);
  EXPECT_TRUE(told("level").empty());
  // What these rows support is no upper end.
  const auto upper_end = [&](const char* y) {
    options.y = {y};
    MutualInformationOptions quick;
    quick.fit = reference_alone(0);
    Progress silent;
    return mutual_information(load_groups(options), quick, silent).information.high;
  };
  EXPECT_TRUE(std::isinf(upper_end("same")));
  EXPECT_TRUE(std::isfinite(upper_end("level")));
}

/// Every row counts once, so that a text of its own in each is found.
TEST(InformationOfTables, LeavesOutIdentifiersAndConstantColumnsAlone) {
  const Directory directory;
  std::string csv = "id,word,age,age is missing,x\n";
  for (int i = 0; i < 300; ++i)
    csv += text("id", i, ",same,", i % 3 ? text(i) : "", ",7,", i * i % 301, "\n");
  GroupsOptions options;
  options.data = directory.write("t.csv", csv);
  options.x = {"id", "word", "age", "age is missing"};
  options.y = {"x"};
  const Groups groups = load_groups(options);
  EXPECT_EQ(groups.x_names, (Strings{"age", "age is missing"}));
  EXPECT_EQ(groups.x.select(1, 1).sum().item<double>(), 100);
  ASSERT_EQ(groups.warnings.size(), 3);
  EXPECT_EQ(groups.warnings[0].message, "column word is constant and left out");
  EXPECT_EQ(groups.warnings[1].code, "id-like-column");
  EXPECT_EQ(groups.warnings[2].message, "left out, as one value is in every row: age is missing");
  options.x = {"id"};
  expect_contains(message_of([&] { load_groups(options); }),
                  {"column id is different in nearly every row"});
}

TEST(InformationOfNothing, SaysWhatIsMissing) {
  const Directory directory;
  GroupsOptions options;
  options.x = {"x", "u"};
  options.y = {"y"};
  options.data = directory.write("one.csv", "x,u,y\n1,3,2\n");
  expect_contains(message_of([&] { load_groups(options); }),
                  {"too few rows", "at least 25 rows, but there are 1"});
  std::string csv = "x,u,y\n";
  for (int i = 0; i < 40; ++i) csv += text(",same,", i, "\n");
  options.data = directory.write("empty.csv", csv);
  expect_contains(message_of([&] { load_groups(options); }),
                  {"no column of a group can be used", "column x is without any value",
                   "column u is constant"});
}

/// x and y of d columns each, of which the i-th ones have this correlation.
Groups correlated(int64_t n, int64_t d, double correlation, at::Generator& generator) {
  Groups groups;
  groups.x = normal({n, d}, torch::kFloat64, generator);
  groups.y = correlation * groups.x +
             std::sqrt(1 - correlation * correlation) * normal({n, d}, torch::kFloat64, generator);
  for (int64_t j = 0; j < d; ++j) {
    groups.x_names.push_back(text("x", j));
    groups.y_names.push_back(text("y", j));
  }
  return groups;
}

TEST(MutualInformation, OfGaussians) {
  auto generator = stream("information");
  const double correlation = 0.8, truth = -std::log(1 - correlation * correlation);
  const Groups groups = correlated(4000, 2, correlation, generator);
  for (const char* method : {"auto", "which-time"}) {
    SCOPED_TRACE(method);
    MutualInformationOptions options;
    options.fit = reference_alone(0);
    options.fit.method = method;
    Progress silent;
    const MutualInformation found = mutual_information(groups, options, silent);
    EXPECT_NEAR(found.information.value, truth, 4 * found.information.standard_error);
    EXPECT_LT(found.information.standard_error, 0.05 * truth);
    EXPECT_NEAR(found.pointwise.mean().item<double>(), found.information.value, 1e-9);
  }
}

TEST(MutualInformation, DoesNotDependOnTheFolds) {
  auto generator = stream("many folds");
  const double correlation = 0.95, truth = -0.5 * std::log(1 - correlation * correlation);
  const Groups groups = correlated(1000, 1, correlation, generator);
  MutualInformationOptions options;
  options.fit = reference_alone(0);
  options.fit.method = "auto";
  options.cross_fit.folds = 50;
  Progress silent;
  const Divergence found = mutual_information(groups, options, silent).information;
  EXPECT_NEAR(found.value, truth, 3 * found.standard_error);
}

TEST(MutualInformation, MoreColumnsThanTheRowsCanCarryAreRefused) {
  auto generator = stream("wide");
  Groups groups;
  groups.x = normal({90, 10}, torch::kFloat64, generator);
  groups.y = normal({90, 10}, torch::kFloat64, generator);
  groups.x_names = groups.y_names = Strings(10, "a");
  Progress silent;
  expect_contains(message_of([&] { mutual_information(groups, {}, silent); }),
                  {"20 columns", "at least 105 rows in 5 folds, but there are 90", "fewer columns",
                   "--folds 15"});
  EXPECT_NO_THROW(check_rows_in_folds(groups, 15));
}

/// The row of a fold of one would be its own partner.
TEST(MutualInformation, FoldsOfOneRowAreRefused) {
  auto generator = stream("lonely rows");
  const Groups groups = correlated(150, 1, 0.5, generator);
  MutualInformationOptions options;
  options.cross_fit.folds = 76;
  Progress silent;
  expect_contains(message_of([&] { mutual_information(groups, options, silent); }),
                  {"at least 152 rows in 76 folds, but there are 150", "--folds 3"});
}

}  // namespace
}  // namespace dre::testing
