#include "dre/apps/rate_table.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "dre/apps/fit_sides.h"
#include "tests/apps/numeric_sides.h"
#include "tests/apps/side_tables.h"
#include "tests/support/stop_after.h"

namespace dre::testing {
namespace {

/// Of a number x and a city, rome or oslo, none of which is ever missing.
Estimator town_model(const FitOptions& options = reference_alone(3)) {
  const Directory directory;
  auto generator = stream("town model");
  const std::string a = towns(300, 0.5, 4, generator), b = towns(300, 0, 2, generator);
  Progress silent;
  return fit_sides(load_sides(two_files(directory, a, b)), options, silent).fit.estimator;
}

struct Rated {
  RateResult met;
  std::string csv;

  Table table() const {
    const Directory directory;
    return read_table(directory.write("out.csv", csv));
  }
};

/// csv: the rows, as rows.csv.
Rated rated(const Estimator& estimator, const std::string& csv, const RateOptions& options = {}) {
  const Directory directory;
  const auto reader = open_table(directory.write("rows.csv", csv), read_options_for(estimator));
  const auto writer = open_writer(directory.path("out.csv"), rated_columns(estimator, options));
  Progress silent;
  const RateResult met = rate_table(*reader, *writer, estimator, "rows.csv", options, silent);
  return {met, directory.read("out.csv")};
}

void expect_close(const Tensor& found, const Tensor& expected) {
  EXPECT_TRUE(torch::allclose(found, expected, 1e-5, 1e-5)) << found << expected;
}

TEST(RateTable, ColumnsAreFoundByNameAndEncodedAsTheFitDid) {
  const Estimator model = town_model();
  const Rated found = rated(model, "city,note,x\nrome,,0.5\noslo,new,-1\n");
  EXPECT_EQ(found.met.rows, 2);
  EXPECT_TRUE(found.met.warnings.empty());
  EXPECT_EQ(found.table().columns, Strings{"log_ratio"});
  const Tensor encoded = torch::tensor({{0.5, 0.0}, {-1.0, 1.0}}, torch::kFloat64);
  expect_close(found.table().values.select(1, 0), model.log_ratio(encoded).log_ratio);
}

TEST(RateTable, CategoriesThatTheFitNeverSawAreCounted) {
  const Rated found = rated(town_model(), "x,city\n1,rome\n2,lima\n3,oslo\n2,rome\n4,lima\n");
  EXPECT_EQ(found.met.unseen, 2);
  EXPECT_EQ(found.met.pooled, 0);
  ASSERT_EQ(found.met.warnings.size(), 1);
  EXPECT_EQ(found.met.warnings[0].code, "unseen-category");
  expect_contains(found.met.warnings[0].message,
                  {"2 cells have", "as the most frequent", "such as 'city' = 'lima'"});
  const Tensor log_ratio = found.table().values.select(1, 0);
  expect_close(log_ratio[1], log_ratio[3]);
}

/// Of 300 rows a side none shows a ratio of a million.
TEST(RateTable, RatiosThatNoRowsOfTheFitCanShowAreTold) {
  const Rated found = rated(town_model(), "x,city\n0.2,rome\n90,rome\n-0.3,oslo\n-90,rome\n");
  EXPECT_EQ(found.met.extrapolated, 2);
  EXPECT_EQ(found.met.first_extrapolated, 2);
  ASSERT_EQ(found.met.warnings.size(), 1);
  EXPECT_EQ(found.met.warnings[0].code, "little-support");
  expect_contains(found.met.warnings[0].message, {"2 of 4 rows", "row 2"});
  EXPECT_EQ(rated(town_model(), "x,city\n0.2,rome\n").met.first_extrapolated, 0);
}

/// Also in a later block, which does not know the rows before it.
TEST(RateTable, AValueThatIsMissingWhereTheFitHadNoneIsRefused) {
  const Estimator model = town_model();
  expect_contains(message_of([&] { rated(model, "x,city\n1,rome\n2,\n"); }),
                  {"rows.csv: row 2, column 'city'", "the value is missing"});
  std::string many = "x,city\n";
  for (int i = 0; i < 17000; ++i) many += "1,rome\n";
  expect_contains(message_of([&] { rated(model, many + "NA,oslo\n"); }),
                  {"rows.csv: row 17001, column 'x'", "fill it in"});
}

TEST(RateTable, RowsWithoutAFiniteRatioAreWrittenAndCounted) {
  const Rated found =
      rated(town_model(), "x,city\n0,rome\n1,oslo\n1e60,rome\n2,rome\n-1e60,oslo\n");
  EXPECT_EQ(found.met.not_finite, 2);
  EXPECT_EQ(found.met.first_not_finite, 3);
  EXPECT_EQ(found.met.rows, 5);
  EXPECT_EQ(std::count(found.csv.begin(), found.csv.end(), '\n'), 6);  // with the header
}

TEST(RateTable, ErrorsAreWrittenWhereTheyAreAskedFor) {
  RateOptions options;
  options.with_error = true;
  EXPECT_EQ(rated_columns(town_model(), options), (Strings{"log_ratio", "error"}));
  FitOptions fit = small_network(3);
  fit.reference = "none";  // so that both members take part
  fit.method = "auto";
  fit.train.steps = 3;
  const Estimator two = town_model(fit);
  const Rated found = rated(two, "x,city\n1,rome\n2,oslo\n", options);
  EXPECT_EQ(found.table().columns, (Strings{"log_ratio", "error", "spread"}));
  const Tensor encoded = torch::tensor({{1.0, 0.0}, {2.0, 1.0}}, torch::kFloat64);
  expect_close(found.table().values.select(1, 2), two.log_ratio(encoded).spread);
  fit.method = "velocity";
  EXPECT_EQ(rated_columns(town_model(fit), options),
            (Strings{"log_ratio", "error", "disagreement"}));
}

/// Asks for a stop while rows are rated.
class StopOnTheWay final : public Progress {
 public:
  void advance(int64_t, const std::string&) override { stop_ = true; }
  bool stop_requested() override { return stop_; }

 private:
  bool stop_ = false;
};

/// Rates rows.csv into out.csv.
RateResult stopped(Progress& stop, const Directory& directory, const Estimator& model) {
  const auto reader = open_table(directory.path("rows.csv"), read_options_for(model));
  const auto writer = open_writer(directory.path("out.csv"), rated_columns(model));
  return rate_table(*reader, *writer, model, "rows.csv", {}, stop);
}

TEST(RateTable, AStopLeavesNoFileUnlessAllRowsAreRated) {
  const Directory directory;
  const Estimator model = town_model();
  directory.write("rows.csv", "x,city\n1,rome\n");
  StopAfter at_once(0);
  const RateResult nothing = stopped(at_once, directory, model);
  EXPECT_TRUE(nothing.interrupted);
  EXPECT_EQ(nothing.rows, 0);
  EXPECT_EQ(directory.list(), Strings{"rows.csv"});
  StopOnTheWay on_the_way;
  const RateResult at_the_end = stopped(on_the_way, directory, model);
  EXPECT_FALSE(at_the_end.interrupted);
  EXPECT_EQ(at_the_end.rows, 1);
  EXPECT_EQ(directory.list().size(), 2);
}

TEST(RateTable, AReaderOfOtherColumnsIsRefused) {
  const Directory directory;
  const Estimator model = town_model();
  const std::string rows = directory.write("rows.csv", "city,x\nrome,1\n");
  ReadOptions read;
  read.words = "keep";
  const auto reader = open_table(rows, read);
  const auto writer = open_writer(directory.path("out.csv"), rated_columns(model));
  Progress silent;
  expect_contains(message_of([&] { rate_table(*reader, *writer, model, "rows.csv", {}, silent); },
                             Error::Kind::usage),
                  {"x, city", "rows.csv", "city, x", "read_options_for"});
}

}  // namespace
}  // namespace dre::testing
