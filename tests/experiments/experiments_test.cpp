/// Every experiment as `--quick` runs it: all cells work, what they say can be written in every
/// form, and some of it must already be true.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "dre/base/error.h"
#include "experiments/all.h"
#include "experiments/runner.h"
#include "experiments/write.h"

namespace dre::experiments {
namespace {

Settings quick() {
  Settings settings;
  settings.size = Size::quick;
  return settings;
}

/// The quick run of an experiment; those that share their cells share it, too.
const RunReport& quick_run(const std::string& name) {
  static std::map<std::string, RunReport> done;
  const auto experiment = experiment_by_name(name);
  const std::string shared = experiment->describe().work;
  const std::string key = shared.empty() ? name : shared;
  if (!done.count(key)) {
    Progress silent;
    done[key] = run_cells(*experiment, quick(), {"", "", "cpu", 1, 1}, silent);
  }
  return done[key];
}

/// A number of a row of a quick run.
double figure(const std::string& name, const std::string& row, const std::string& field) {
  const Json* result = quick_run(name).results.find(row);
  EXPECT_TRUE(result) << name << " has no row " << row;
  return result ? number_in(*result, field) : NAN;
}

bool is_number(const std::optional<double>& value) { return !value || std::isfinite(*value); }

/// How many numbers a table has; none of them may be NaN or infinite.
int64_t finite_numbers(const report::Table& table) {
  int64_t count = 0;
  for (const auto& row : table.rows)
    for (size_t column = 0; column < row.size(); ++column) {
      const report::Cell& cell = row[column];
      EXPECT_TRUE(is_number(cell.value) && is_number(cell.standard_error))
          << table.caption << ": " << row.front().shown() << ", " << table.columns[column] << ": "
          << cell.shown();
      count += cell.value.has_value();
    }
  return count;
}

int64_t finite_numbers(const Outcome& outcome) {
  int64_t count = 0;
  for (const auto& table : outcome.tables) count += finite_numbers(table);
  return count;
}

class Experiments : public ::testing::TestWithParam<std::string> {};

TEST_P(Experiments, RunFromStartToPage) {
  if (GetParam() == "mnist") GTEST_SKIP() << "needs images: mnist_test.cpp";
  const auto experiment = experiment_by_name(GetParam());
  const RunReport& run = quick_run(GetParam());
  ASSERT_TRUE(run.failures.empty()) << run.failures.front();
  EXPECT_EQ(run.missing, 0);
  const Written result{GetParam(),
                       experiment->describe(),
                       experiment->summarise(quick(), run.results),
                       {{"command", "x"}},
                       {}};
  ASSERT_FALSE(result.outcome.tables.empty());
  for (const auto& table : result.outcome.tables) {
    report::check_shape(table);
    EXPECT_FALSE(table.rows.empty()) << table.caption;
    EXPECT_GT(finite_numbers(table), 0) << table.caption;
  }
  const Outcome nothing = experiment->summarise(quick(), Results());
  EXPECT_GT(finite_numbers(result.outcome), finite_numbers(nothing));  // more than the paper's own
  EXPECT_FALSE(result.outcome.charts.empty());
  EXPECT_NE(to_text(result).find(result.outcome.tables[0].caption), std::string::npos);
  EXPECT_EQ(to_json(result)["tables"].size(), result.outcome.tables.size());
  EXPECT_LT(report::to_html(to_page(result)).size(), 2'000'000U);
}

TEST_P(Experiments, ShowWhatIsThereWhereCellsAreMissing) {
  const auto experiment = experiment_by_name(GetParam());
  for (const bool sweep : {false, true}) {
    Settings settings;
    settings.sweep = sweep;
    const Outcome outcome = experiment->summarise(settings, Results());
    for (const auto& table : outcome.tables) {
      report::check_shape(table);
      finite_numbers(table);
    }
  }
}

TEST_P(Experiments, NamesOfCellsAreUniqueAtEverySize) {
  const auto experiment = experiment_by_name(GetParam());
  for (const Size size : {Size::full, Size::quick}) {
    Settings settings{size, 2, true};
    std::set<std::string> names;
    const auto cells = experiment->cells(settings);
    for (const auto& cell : cells) EXPECT_TRUE(names.insert(cell.name()).second) << cell.name();
    EXPECT_FALSE(cells.empty());
  }
}

std::string test_name(const ::testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(All, Experiments, ::testing::ValuesIn(names_of(experiment_table())),
                         test_name);

TEST(QuickFigures, OneScalarIsFoundUpToAThousandthOfTheRange) {
  for (const char* row : {"q = N(0, 0.01)", "q = N(0, 1e-6)"}) {
    EXPECT_LT(figure("gaussian-1d", row, "relative"), 1e-3) << row;
    EXPECT_LT(std::abs(figure("gaussian-1d", row, "theta")), 0.01) << "from 1; " << row;
  }
}

TEST(QuickFigures, OnlyTheMultipliedLossMovesTheMinimum) {
  const auto drift = [](const std::string& times) {
    return figure("integration", times + ", exact but for a function of time", "drift");
  };
  // In ten times as many batches the others have standard deviations of at most 0.01 over seeds.
  const double error = 0.01 * std::sqrt(10);
  EXPECT_NEAR(drift("uniform times"), 0, 5 * error);
  EXPECT_NEAR(drift("importance sampling by loss history (ours)"), 0, 5 * error);
  // 4.26 in the end; its first hundred batches have no history yet.
  EXPECT_GT(drift("multiplied by loss history (as published)"), 3);
}

}  // namespace
}  // namespace dre::experiments
