#include "dre/report/chart.h"

#include <gtest/gtest.h>

#include <limits>

#include "dre/base/error.h"

namespace dre::report {
namespace {

TEST(Records, AreColumnsTurnedIntoRowsOfSixDigits) {
  const Json rows =
      records({{"x", {1, 1.0 / 3}}, {"y", {2, std::numeric_limits<double>::infinity()}}});
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[1]["x"], 0.333333);
  EXPECT_TRUE(rows[1]["y"].is_null());
  EXPECT_THROW(records({{"x", {1, 2}}, {"y", {1}}}), Error);
}

TEST(Facets, KeepTheOrderOfTheData) {
  Json rows = with_field(records({{"x", {1, 2}}}), "method", "nce");
  append_records(rows, with_field(records({{"x", {3}}}), "method", "joint"));
  const Json spec =
      facets("method", chart_spec(rows, {layer("point", {{"x", quantity("x", "x")}})}), 2);
  EXPECT_EQ(spec["facet"]["sort"], (Json{"nce", "joint"}));
  EXPECT_EQ(spec["data"]["values"].size(), 3U);
  EXPECT_FALSE(spec["spec"].contains("data"));
}

}  // namespace
}  // namespace dre::report
