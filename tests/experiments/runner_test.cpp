/// The runner over a made-up experiment: what is computed, reused, left out, and what fails.
#include "experiments/runner.h"

#include <gtest/gtest.h>

#include <atomic>

#include "dre/base/error.h"
#include "tests/data/files.h"

namespace dre::experiments {
namespace {

/// Cells "a", "b" and "bad" for every seed; counts how often a cell works.
class Counting final : public Experiment {
 public:
  Description describe() const override { return {"counting", "", 2}; }

  std::vector<Cell> cells(const Settings& settings) const override {
    std::vector<Cell> all;
    for (const std::string& row : {std::string("a"), second})
      for (int64_t seed = 0; seed < settings.seeds; ++seed)
        all.push_back({row, seed, {{"steps", steps}}, [this](const Context& context, Progress& p) {
                         ++worked;
                         if (p.stop_requested()) throw Interrupted{};
                         return Json{{"value", static_cast<double>(context.seed) + 1}};
                       }});
    if (fails)
      all.push_back({"bad", 0, {}, [](const Context&, Progress&) -> Json {
                       fail(Error::Kind::numerical, "no luck");
                     }});
    return all;
  }

  Outcome summarise(const Settings&, const Results&) const override { return {}; }

  std::string second = "b";
  int64_t steps = 10;
  bool fails = false;
  mutable std::atomic<int64_t> worked = 0;
};

class Stopping final : public Progress {
 public:
  bool stop_requested() override { return true; }
};

Settings two_seeds() {
  Settings settings;
  settings.seeds = 2;
  return settings;
}

TEST(Runner, ComputesEveryCellInTheContextOfItsSeed) {
  for (const int64_t jobs : {1, 3}) {
    const Counting experiment;
    Progress silent;
    const RunReport run = run_cells(experiment, two_seeds(), {"", "", "cpu", jobs}, silent);
    EXPECT_EQ(run.computed, 4);
    EXPECT_EQ(run.results.numbers("a", "value"), (std::vector<double>{1, 2}));
    EXPECT_EQ(*run.results.mean("b", "value").value, 1.5);
    EXPECT_EQ(*run.results.mean("b", "value").standard_error, 0.5);
    EXPECT_FALSE(run.results.mean("c", "value").value.has_value());
  }
}

TEST(Runner, GoesOnFromFinishedCellsWithTheSameOptions) {
  const testing::Directory folder;
  const std::string cells = folder.path("cells");
  Counting experiment;
  Progress silent;
  const RunReport first = run_cells(experiment, two_seeds(), {cells, "a", "cpu"}, silent);
  EXPECT_EQ(first.computed, 2);
  EXPECT_EQ(first.missing, 2);
  const RunReport second = run_cells(experiment, two_seeds(), {cells, "", "cpu"}, silent);
  EXPECT_EQ(second.reused, 2);
  EXPECT_EQ(second.computed, 2);
  EXPECT_EQ(second.missing, 0);
  EXPECT_EQ(second.results.numbers("a", "value"), (std::vector<double>{1, 2}));
  EXPECT_EQ(experiment.worked, 4);

  experiment.steps = 11;
  EXPECT_EQ(run_cells(experiment, two_seeds(), {cells, "", "cpu"}, silent).computed, 4);
  Settings quick = two_seeds();
  quick.size = Size::quick;
  EXPECT_EQ(run_cells(experiment, quick, {cells, "", "cpu"}, silent).computed, 4);
}

TEST(Runner, TakesCellsOfAnotherRunFromOneFile) {
  const testing::Directory folder;
  Counting experiment;
  Progress silent;
  RunOptions options{"", "a", "cpu"};
  const RunReport first = run_cells(experiment, two_seeds(), options, silent);
  EXPECT_EQ(first.machines.size(), 1U);
  options.earlier = folder.write("a.cells.json", first.cells.dump());
  options.only = "";
  const RunReport second = run_cells(experiment, two_seeds(), options, silent);
  EXPECT_EQ(second.reused, 2);
  EXPECT_EQ(second.computed, 2);
  EXPECT_EQ(second.cells.size(), 4U);
  const std::string cells = folder.path("cells");
  run_cells(experiment, two_seeds(), {cells, "none of them", "cpu", 1, 0, options.earlier}, silent);
  EXPECT_EQ(run_cells(experiment, two_seeds(), {cells, "b", "cpu"}, silent).reused, 2);
  EXPECT_EQ(second.results.numbers("a", "value"), (std::vector<double>{1, 2}));

  experiment.steps = 11;
  EXPECT_EQ(run_cells(experiment, two_seeds(), options, silent).computed, 4);
  options.only = "none of them";
  EXPECT_THROW(run_cells(experiment, two_seeds(), options, silent), Error);
  options.only = "";
  for (const char* damaged : {"", "{", "[1]", "[{\"key\": 3}]"}) {
    options.earlier = folder.write("b.cells.json", damaged);
    EXPECT_THROW(run_cells(experiment, two_seeds(), options, silent), Error) << damaged;
  }
  options.earlier = folder.path("none.json");
  EXPECT_THROW(run_cells(experiment, two_seeds(), options, silent), Error);
}

TEST(Runner, NamesWhatFailedAndDoesTheRest) {
  Counting experiment;
  experiment.fails = true;
  Progress silent;
  const RunReport run = run_cells(experiment, two_seeds(), {"", "", "cpu", 2}, silent);
  EXPECT_EQ(run.computed, 4);
  ASSERT_EQ(run.failures.size(), 1U);
  EXPECT_EQ(run.failures[0], "bad, seed 0: no luck");
}

TEST(Runner, CellsThatCannotBeSavedAreAnErrorOfTheRun) {
  const testing::Directory folder;
  Counting experiment;
  experiment.second = std::string(300, 'b');  // too long for the name of a file
  Progress silent;
  for (const int64_t jobs : {1, 3})
    EXPECT_THROW(
        run_cells(experiment, two_seeds(), {folder.path("cells"), "", "cpu", jobs}, silent), Error);
}

TEST(Runner, StopsWhereAskedTo) {
  const Counting experiment;
  Stopping progress;
  const RunReport run = run_cells(experiment, two_seeds(), {"", "", "cpu"}, progress);
  EXPECT_TRUE(run.interrupted);
  EXPECT_EQ(experiment.worked, 1);
}

TEST(Runner, RefusesNamesThatNoCellHas) {
  const Counting experiment;
  Progress silent;
  EXPECT_THROW(run_cells(experiment, two_seeds(), {"", "zebra", "cpu"}, silent), Error);
}

TEST(Results, NumbersThatJsonCannotHoldComeBackAsNaN) {
  Results results;
  Cell cell;
  cell.row = "nce";
  results.add(cell, Json::parse("{\"mse\": null}"));
  ASSERT_EQ(results.numbers("nce", "mse").size(), 1U);
  EXPECT_TRUE(std::isnan(results.numbers("nce", "mse")[0]));
}

}  // namespace
}  // namespace dre::experiments
