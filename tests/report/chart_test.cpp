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

/// Filled marks with dashes would hide these in the legend.
TEST(Chart, DashedLinesHavePointsOfTheirOwn) {
  const auto layers = dashed_lines({{"x", quantity("x", "x")}, {"color", category("who")}}, "how");
  ASSERT_EQ(layers.size(), 2);
  EXPECT_EQ(layers[0]["encoding"]["strokeDash"]["field"], "how");
  EXPECT_FALSE(layers[1]["encoding"].contains("strokeDash"));
  EXPECT_EQ(layers[1]["encoding"]["color"]["field"], "who");
}

}  // namespace
}  // namespace dre::report
