/// The experiment on MNIST: its cells hand models to one another by files, and go on where they
/// were interrupted. The images are made up.
#include "experiments/mnist/mnist.h"

#include <gtest/gtest.h>

#include <cmath>

#include "dre/base/error.h"
#include "dre/density/density_file.h"
#include "experiments/mnist/plan.h"
#include "experiments/mnist/tables.h"
#include "experiments/runner.h"
#include "experiments/unfinished.h"
#include "experiments/write.h"
#include "tests/experiments/made_up_mnist.h"
#include "tests/support/stop_after.h"

namespace dre::experiments {
namespace {

using dre::testing::Directory;
using dre::testing::StopAfter;

class MnistExperiment : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    images = std::make_unique<Directory>();
    dre::testing::write_made_up_mnist(*images);
  }
  static void TearDownTestSuite() { images.reset(); }

  Settings settings() const {
    Settings quick;
    quick.size = Size::quick;
    quick.data = images->path("");
    quick.files = out.path("mnist");
    return quick;
  }

  RunReport run(const std::string& only, Progress& progress) const {
    return run_cells(*experiment, settings(), {out.path("cells"), only, "cpu", 1, 1}, progress);
  }
  RunReport run(const std::string& only) const {
    Progress silent;
    return run(only, silent);
  }

  static std::unique_ptr<Directory> images;
  const Directory out;
  const std::unique_ptr<Experiment> experiment = make_mnist();
};

std::unique_ptr<Directory> MnistExperiment::images;

TEST_F(MnistExperiment, RunsFromStartToPage) {
  const RunReport done = run("");
  ASSERT_TRUE(done.failures.empty()) << done.failures.front();
  EXPECT_EQ(done.missing, 0);
  const Outcome outcome = experiment->summarise(settings(), done.results);
  EXPECT_EQ(outcome.tables.size(), 5U);
  for (const auto& table : outcome.tables) {
    report::check_shape(table);
    EXPECT_FALSE(table.rows.empty()) << table.caption;
    EXPECT_EQ(report::to_text(table).find("missing"), std::string::npos) << report::to_text(table);
  }
  // Three noise models, six models by annealing, three of them by their flow.
  EXPECT_EQ(outcome.pictures.size(), 12U);
  const Written written{"mnist", experiment->describe(), outcome, {{"command", "x"}}, {}};
  const std::string html = report::to_html(to_page(written));
  EXPECT_NE(html.find("data:image/png;base64,iVBOR"), std::string::npos);
  EXPECT_LT(html.size(), 2'000'000U);
  const auto plans = mnist::fit_plans(settings());
  EXPECT_EQ(plans.size(), 6U);
  for (const auto& plan : plans) {
    const Json* found = done.results.find(plan.row());
    ASSERT_TRUE(found) << plan.row();
    EXPECT_EQ((*found)["looks"].size(), 2U);
    EXPECT_TRUE(std::isfinite(number_in((*found)["test"]["direct"], "value")));
  }
}

TEST_F(MnistExperiment, ACellSaysWhichOneMustComeFirst) {
  const RunReport fit = run("velocity from copula");
  ASSERT_EQ(fit.failures.size(), 3U);  // the model and its two annealings
  EXPECT_NE(fit.failures[0].find("the cell 'noise model copula' makes it"), std::string::npos);
  EXPECT_NE(fit.failures[1].find("the cell 'velocity from copula' makes it"), std::string::npos);
  const Outcome outcome = experiment->summarise(settings(), fit.results);
  EXPECT_NE(report::to_text(outcome.tables[1]).find("missing"), std::string::npos);
}

TEST_F(MnistExperiment, CellsComeOneAfterAnother) {
  RunOptions two;
  two.jobs = 2;
  Progress silent;
  EXPECT_THROW(run_cells(*experiment, settings(), two, silent), Error);
}

TEST_F(MnistExperiment, AnInterruptedFitGoesOnAndAFinishedOneIsNotRepeated) {
  ASSERT_EQ(run("noise model copula").computed, 1);
  StopAfter stop(1);
  EXPECT_TRUE(run("velocity from copula, seed", stop).interrupted);
  const std::string model = out.path("mnist/velocity-from-copula-seed0.safetensors");
  EXPECT_FALSE(std::filesystem::exists(model));
  EXPECT_TRUE(std::filesystem::exists(model + ".checkpoint"));
  const RunReport rest = run("velocity from copula, seed");
  ASSERT_EQ(rest.computed, 1);
  const Json found = *rest.results.find("velocity from copula");
  EXPECT_EQ(found["steps"], 20);
  EXPECT_EQ(found["looks"].size(), 2U);  // the one before the interruption, too
  EXPECT_FALSE(std::filesystem::exists(model + ".checkpoint"));
  // Without the result but with the model, the cell evaluates and does not train.
  std::filesystem::remove(out.path("cells/velocity_from_copula_seed_0.json"));
  const Json again = *run("velocity from copula, seed").results.find("velocity from copula");
  EXPECT_EQ(again["minutes"], found["minutes"]);
  EXPECT_EQ(again["test"]["direct"], found["test"]["direct"]);
}

TEST_F(MnistExperiment, ANoiseModelMadeElsewhereIsTaken) {
  ASSERT_EQ(run("noise model copula").computed, 1);
  const std::string path = out.path("mnist/noise-model-copula-seed0.safetensors");
  save_density(path, *load_density(path).density, {{"by", "hand"}});
  std::filesystem::remove(out.path("cells/noise_model_copula_seed_0.json"));
  const RunReport again = run("noise model copula");
  ASSERT_EQ(again.computed, 1);
  EXPECT_FALSE(again.results.find("noise model copula")->contains("steps"));
  // As dre flow fit keeps its record.
  save_density(path, *load_density(path).density, {{"training", {{"steps", 7}}}});
  std::filesystem::remove(out.path("cells/noise_model_copula_seed_0.json"));
  EXPECT_EQ((*run("noise model copula").results.find("noise model copula"))["steps"], 7);
  std::filesystem::rename(path, out.path("mnist/noise-model-gaussian-seed0.safetensors"));
  const RunReport wrong = run("noise model gaussian");
  ASSERT_EQ(wrong.failures.size(), 1U);
  EXPECT_NE(wrong.failures[0].find("holds a noise model 'copula'"), std::string::npos);
}

/// Hours of work may be in a file of other settings, or in one that someone put there.
TEST_F(MnistExperiment, AFileOfOtherSettingsIsNotReplaced) {
  const std::string noise = "mnist/noise-model-copula-seed0.safetensors";
  const std::string model = "mnist/velocity-from-copula-seed0.safetensors";
  ASSERT_EQ(run("noise model copula").computed, 1);
  ASSERT_EQ(run("velocity from copula, seed").computed, 1);
  const auto refused = [&](const std::string& cell, const std::string& name) {
    out.remove("cells");
    const std::string before = out.read(name);
    const RunReport report = run(cell);
    ASSERT_FALSE(report.failures.empty()) << cell;
    EXPECT_NE(report.failures[0].find(out.path(name)), std::string::npos) << report.failures[0];
    EXPECT_NE(report.failures[0].find("move it away"), std::string::npos) << report.failures[0];
    EXPECT_TRUE(out.read(name) == before);
  };
  const EnergyFile file = load_energy(out.path(model));
  save_energy(out.path(model), *file.model, {{"plan", "another"}});
  refused("velocity from copula, seed", model);
  save_energy(out.path(model), *file.model, {{"seed", 3}});  // as dre ebm fit writes it
  refused("velocity from copula, seed", model);
  refused("velocity from copula, annealing", model);
  save_density(out.path(noise), *load_density(out.path(noise)).density, {{"plan", "another"}});
  refused("noise model copula", noise);
}

TEST_F(MnistExperiment, MinutesChangeTheBudgetAndNotTheCell) {
  Settings longer = settings();
  longer.minutes = 7;
  const auto plan = mnist::fit_plans(longer).front();
  EXPECT_EQ(plan.fit.minutes, 7);
  EXPECT_EQ(plan.options(), mnist::fit_plans(settings()).front().options());
}

TEST_F(MnistExperiment, SaysWhatItNeeds) {
  Settings bare = settings();
  bare.data = "";
  EXPECT_THROW(experiment->check_settings(bare), Error);
  bare = settings();
  bare.files = "";
  EXPECT_THROW(experiment->check_settings(bare), Error);
  EXPECT_NO_THROW(experiment->check_settings(settings()));
}

TEST(UnfinishedFit, IsThereForTheSamePlanOnly) {
  const Directory folder;
  const Unfinished one(folder.path("fit.checkpoint"), {{"steps", 1}});
  EXPECT_FALSE(one.load());
  one.save({{"weights", torch::arange(3)}}, {{"seconds", 2}});
  ASSERT_TRUE(one.load());
  EXPECT_TRUE(torch::equal(at(one.load()->tensors, "weights"), torch::arange(3)));
  EXPECT_EQ(one.load()->history["seconds"], 2);
  EXPECT_FALSE(Unfinished(folder.path("fit.checkpoint"), {{"steps", 2}}).load());
  one.remove();
  EXPECT_FALSE(one.load());
}

}  // namespace
}  // namespace dre::experiments
