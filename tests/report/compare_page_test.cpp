#include "dre/report/compare_page.h"

#include <gtest/gtest.h>

#include "dre/report/weights_page.h"
#include "tests/apps/numeric_sides.h"
#include "tests/report/browser.h"

namespace dre {
namespace {

CompareResult made_up_result() {
  CompareResult result;
  result.verdict = "The tables differ <clearly>.";
  result.data = {{"numerator", {{"file", "a.csv"}, {"rows", 10}}},
                 {"denominator", {{"file", "b.csv"}, {"rows", 20}}}};
  result.divergences.level = 0.95;
  result.divergences.chi_square.value = std::nan("");
  result.histogram = {{-1, 0, 1}, {0.3, 0.7}, {0.6, 0.4}};
  result.largest_weights = {5, 2, 1};
  result.curve = {{0, 1.0, 1.1}, {20, 0.9, 1.0}};
  ColumnEffect number{"age", "number", 0.3, 0.1, 0.5, 0.1, 0, 0, 0.02, {}};
  number.marginal = {{0, 1, 2}, {}, {0.5, 0.5}, {0.2, 0.8}, {0.5, 0.5}};
  ColumnEffect city{"city", "category", 0.2, 0.0, std::nan(""), std::nan(""), 0, 0, 0.01, {}};
  city.marginal = {{}, {"city = rome", "city = oslo"}, {0.5, 0.5}, {0.3, 0.7}, {0.5, 0.5}};
  result.columns = {number, city};
  result.warnings = {{"little-support", "2 % of the rows lie outside"}};
  return result;
}

size_t charts(const report::Page& page) {
  size_t count = 0;
  for (const auto& section : page.sections)
    for (const auto& block : section.blocks) count += std::holds_alternative<report::Chart>(block);
  return count;
}

TEST(ComparePage, ShowsEverythingInOneSmallFile) {
  const report::Page page = report::compare_page(made_up_result());
  EXPECT_EQ(charts(page), 7);  // ratios, calibration, tail, columns, two marginals, training
  const std::string html = report::to_html(page);
  EXPECT_LT(html.size(), size_t{2} << 20);
  for (const char* part : {"differ &lt;clearly&gt;", "a.csv", "little-support", "Pareto k", "city",
                           "after reweighting", "95 % confidence"})
    EXPECT_NE(html.find(part), std::string::npos) << part;
}

TEST(ComparePage, SidesOfOneFileAreToldApart) {
  CompareResult result = made_up_result();
  result.data["domain_column"] = "city";
  result.data["numerator_value"] = "rome";
  result.data["denominator_value"] = "oslo";
  const std::string html = report::to_html(report::compare_page(result));
  for (const char* part : {"(city = rome) against ", "(city = oslo)", "(city = rome), "})
    EXPECT_NE(html.find(part), std::string::npos) << part;
}

TEST(ComparePage, ManyColumnsGetATableAndTheFirstOnesACharts) {
  CompareResult result = made_up_result();
  for (int i = 0; i < 100; ++i) {
    result.columns.push_back(result.columns[0]);
    result.columns.back().name = "column " + std::to_string(i);
  }
  const report::Page page = report::compare_page(result);
  EXPECT_EQ(charts(page), 21);
  EXPECT_NE(report::to_html(page).find("column 99"), std::string::npos);
}

/// Two columns, one of which differs.
Sides shifted_sides() {
  auto generator = testing::stream("page");
  Tensor a = testing::rows(300, 2, 0, generator);
  a.select(1, 0).add_(0.8);
  return testing::numeric_sides(a, testing::rows(300, 2, 0, generator));
}

TEST(ComparePage, OfARealComparisonIsDrawnInABrowser) {
  if (const std::string why = report::no_browser(); !why.empty()) GTEST_SKIP() << why;
  CompareOptions options;
  options.permutations = 99;
  options.fit = testing::small_network(0);
  options.fit.train.steps = 40;
  Progress silent;
  const CompareResult result = compare(shifted_sides(), options, silent);
  report::expect_drawn_without_complaints(report::compare_page(result), 7);
}

WeightsResult real_weights() {
  WeightsOptions options;
  options.fit = testing::reference_alone(0);
  Progress silent;
  return importance_weights(shifted_sides(), options, silent);
}

TEST(WeightsPage, ShowsTheClosureTestAndTheTail) {
  const WeightsResult result = real_weights();
  EXPECT_EQ(result.largest_weights.size(), 200);
  EXPECT_NEAR(result.largest_weights.front(), result.weight.max().item<double>(), 1e-9);
  const report::Page page = report::weights_page(result);
  EXPECT_EQ(charts(page), 4);  // tail, columns, two marginals
  const std::string html = report::to_html(page);
  for (const char* part : {"Closure", "Pareto k", "reweighted", "x0", "memory, 300 rows"})
    EXPECT_NE(html.find(part), std::string::npos) << part;
}

TEST(WeightsPage, IsDrawnInABrowser) {
  if (const std::string why = report::no_browser(); !why.empty()) GTEST_SKIP() << why;
  report::expect_drawn_without_complaints(report::weights_page(real_weights()), 4);
}

}  // namespace
}  // namespace dre
