/// Every experiment at its smallest: all cells work, and what they say can be written in every
/// form.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "dre/base/error.h"
#include "experiments/all.h"
#include "experiments/runner.h"
#include "experiments/write.h"

namespace dre::experiments {
namespace {

class Experiments : public ::testing::TestWithParam<std::string> {};

TEST_P(Experiments, RunFromStartToPage) {
  if (GetParam() == "mnist") GTEST_SKIP() << "needs images: mnist_test.cpp";
  const auto experiment = experiment_by_name(GetParam());
  Settings settings;
  settings.size = Size::smoke;
  Progress silent;
  const RunReport run = run_cells(*experiment, settings, {"", "", "cpu", 1, 1}, silent);
  EXPECT_TRUE(run.failures.empty()) << run.failures.front();
  EXPECT_EQ(run.missing, 0);
  const Written result{GetParam(),
                       experiment->describe(),
                       experiment->summarise(settings, run.results),
                       {{"command", "x"}},
                       {}};
  ASSERT_FALSE(result.outcome.tables.empty());
  for (const auto& table : result.outcome.tables) {
    report::check_shape(table);
    EXPECT_FALSE(table.rows.empty()) << table.caption;
  }
  EXPECT_FALSE(result.outcome.charts.empty());
  EXPECT_NE(to_text(result).find(result.outcome.tables[0].caption), std::string::npos);
  EXPECT_EQ(to_json(result)["tables"].size(), result.outcome.tables.size());
  EXPECT_LT(report::to_html(to_page(result)).size(), 2'000'000U);
}

TEST_P(Experiments, ShowWhatIsThereWhereCellsAreMissing) {
  const auto experiment = experiment_by_name(GetParam());
  EXPECT_NO_THROW(experiment->summarise({}, Results()));
  Settings sweep;
  sweep.sweep = true;
  EXPECT_NO_THROW(experiment->summarise(sweep, Results()));
}

TEST_P(Experiments, NamesOfCellsAreUniqueAtEverySize) {
  const auto experiment = experiment_by_name(GetParam());
  for (const Size size : {Size::full, Size::quick, Size::smoke}) {
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

}  // namespace
}  // namespace dre::experiments
