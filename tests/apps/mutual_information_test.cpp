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

}  // namespace
}  // namespace dre::testing
