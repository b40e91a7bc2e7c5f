#include "dre/energy/fit.h"

#include <gtest/gtest.h>

#include <cmath>

#include "dre/base/error.h"
#include "tests/energy/energy_set.h"
#include "tests/support/stop_after.h"

namespace dre {
namespace {

using namespace dre::testing;

class EnergyFitOn : public OnBothBridges {};

INSTANTIATE_TEST_SUITE_P(All, EnergyFitOn, ::testing::Values("latent", "images"),
                         [](const auto& info) { return std::string(info.param); });

TEST(EnergyFit, StartsAtTheNoiseModelOnEveryPath) {
  EnergySet set("velocity");
  const EnergyReport report = set.report();
  EXPECT_NEAR(report.direct.value, report.noise.value, 1e-6);
  EXPECT_NEAR(report.direct_exact.value, report.noise.value, 1e-6);
  EXPECT_NEAR(report.arc.value, report.noise.value, 1e-6);
  EXPECT_NEAR(report.flow.value, report.noise.value, 1e-4);
  EXPECT_NEAR(report.flow_by_variance.value, report.noise.value, 1e-4);
  EXPECT_EQ(report.flow_evaluations, 32);
  EXPECT_FALSE(report.direct_seconds);  // there are no 100 images
}

TEST(EnergyFit, JudgingLeavesThePrecisionOfTheNetworkAsItWas) {
  EnergySet set("velocity");
  EnergyEvaluateOptions options;
  options.nodes = 2;
  options.flow_steps = 1;
  Progress silent;
  for (const bool before : {false, true}) {
    set.model->network().set_half(before);
    options.half = !before;
    auto generator = set.context.generator("judging");
    evaluate_energy(*set.model, set.validation.slice(0, 0, 2), options, generator, silent);
    EXPECT_EQ(set.model->network().half(), before);
  }
}

TEST(EnergyFit, EveryObjectiveTrainsAndEvaluates) {
  std::vector<EnergyOptions> all;
  for (const auto& objective : energy_objectives()) all.push_back(tiny(objective));
  for (const char* objective : {"velocity", "nce", "tre"}) all.push_back(tiny(objective, "images"));
  for (const EnergyOptions& options : all) {
    SCOPED_TRACE(options.objective + ", " + options.bridge);
    EnergySet set(options, {torch::kCPU, torch::kFloat32, 1});
    Progress silent;
    const Tensor before = set.model->network().parameters().flat().clone();
    const EnergyFitResult result =
        fit_energy(*set.model, {set.train, set.validation}, few_steps(6), silent);
    EXPECT_EQ(result.steps, 6);
    EXPECT_EQ(result.looks.size(), 2);
    EXPECT_TRUE(result.finite);
    EXPECT_FALSE(torch::equal(before, set.model->network().parameters().flat()));
    const Tensor ratio = energy_log_ratio(*set.model, set.latent(3), 4);
    EXPECT_EQ(ratio.sizes(), torch::IntArrayRef({3}));
    EXPECT_TRUE(ratio.isfinite().all().item<bool>());
    EXPECT_EQ(has_flow(*set.model), options.objective == "velocity");
  }
}

TEST(EnergyFit, LooksDrawByTheFlowOrByAnnealingWhereItIsAskedFor) {
  Progress silent;
  const auto samples_of = [&](const std::string& objective, int64_t anneal_steps) {
    EnergySet set(objective);
    EnergyFitOptions options = few_steps(4);
    options.model = set.model->options();
    options.look_samples = 3;
    options.look_anneal_steps = anneal_steps;
    const EnergyFitResult result =
        fit_energy(*set.model, {set.train, set.validation}, options, silent);
    return result.looks.back().samples;
  };
  EXPECT_EQ(samples_of("velocity", 0).sizes(), torch::IntArrayRef({3, 16}));
  EXPECT_FALSE(samples_of("nce", 0).defined());
  for (const std::string objective : {"nce", "time"}) {
    const Tensor drawn = samples_of(objective, 2);
    ASSERT_EQ(drawn.sizes(), torch::IntArrayRef({3, 400})) << objective;
    EXPECT_EQ(drawn.scalar_type(), torch::kUInt8);
    EXPECT_GT(drawn.to(torch::kFloat64).std().item<double>(), 1) << "images of one grey";
  }
}

TEST_P(EnergyFitOn, TrainingBeatsTheNoiseModel) {
  EnergySet set = make_set();
  Progress silent;
  // Between images two distributions are to be learned, not one.
  EnergyFitOptions options = few_steps(std::string(GetParam()) == "images" ? 240 : 120);
  options.train.batch = 24;
  options.train.rate = 5e-3;
  options.train.evaluate_every = options.train.steps;
  fit_energy(*set.model, {set.train, set.validation}, options, silent);
  const EnergyReport report = set.report();
  EXPECT_LT(report.flow.value, report.noise.value - 0.2);
}

/// Stopped after a step, or where a look is due.
TEST_P(EnergyFitOn, AResumedFitEndsInTheSameWeights) {
  for (const int64_t every : {1, 4}) {
    EnergyFitOptions options = few_steps(12);
    options.train.evaluate_every = every;
    Progress silent;
    EnergySet whole = make_set();
    const EnergyFitResult expected =
        fit_energy(*whole.model, {whole.train, whole.validation}, options, silent);
    NamedTensors state;
    EnergyFitCalls calls;
    calls.save = [&](const NamedTensors& saved) { state = saved; };
    EnergySet part = make_set();
    StopAfter stop(1);
    EXPECT_TRUE(
        fit_energy(*part.model, {part.train, part.validation}, options, stop, calls).interrupted);
    ASSERT_FALSE(state.empty());
    EnergySet rest = make_set();
    EnergyFitCalls resume;
    resume.resume = state;
    const EnergyFitResult result =
        fit_energy(*rest.model, {rest.train, rest.validation}, options, silent, resume);
    EXPECT_EQ(result.steps, 12);
    EXPECT_EQ(result.looks.back().loss, expected.looks.back().loss);
    EXPECT_TRUE(torch::equal(whole.model->network().parameters().flat(),
                             rest.model->network().parameters().flat()));
  }
}

/// Asks for a stop when the stage begins.
class StopAt final : public Progress {
 public:
  explicit StopAt(std::string stage) : stage_(std::move(stage)) {}
  void begin(const std::string& stage, int64_t) override { reached_ |= stage == stage_; }
  bool stop_requested() override { return reached_; }

 private:
  std::string stage_;
  bool reached_ = false;
};

/// Steps and looks are done then; a fit that goes on has only the correction left.
TEST_P(EnergyFitOn, AStopInTheCorrectionLeavesAStateToGoOnFrom) {
  Progress silent;
  EnergySet whole = make_set();
  fit_energy(*whole.model, {whole.train, whole.validation}, few_steps(4), silent);
  EnergyFitCalls calls;
  NamedTensors state;
  calls.save = [&](const NamedTensors& saved) { state = saved; };
  EnergySet part = make_set();
  StopAt stop("correction");
  EXPECT_TRUE(fit_energy(*part.model, {part.train, part.validation}, few_steps(4), stop, calls)
                  .interrupted);
  ASSERT_FALSE(state.empty());
  EnergySet rest = make_set();
  EnergyFitCalls resume;
  resume.resume = state;
  const EnergyFitResult result =
      fit_energy(*rest.model, {rest.train, rest.validation}, few_steps(4), silent, resume);
  EXPECT_FALSE(result.interrupted);
  EXPECT_TRUE(result.looks.empty());
  const Measured &found = rest.model->correction, &expected = whole.model->correction;
  EXPECT_NE(found.value, 0);
  EXPECT_GT(found.standard_error, 0);
  EXPECT_EQ(found.value, expected.value);
  EXPECT_EQ(found.standard_error, expected.standard_error);
  EXPECT_TRUE(torch::equal(whole.model->network().parameters().flat(),
                           rest.model->network().parameters().flat()));
}

/// Blocks of noise images that are renewed between steps reach a step that was recorded before.
TEST_P(EnergyFitOn, RecordedStepsAreTheStepsThemselves) {
  const torch::Device device = device_by_name("auto");
  if (device.is_cpu()) GTEST_SKIP() << "no CUDA here: nothing is recorded";
  std::vector<Tensor> weights;
  for (const bool graph : {true, false}) {
    EnergySet set(tiny("velocity", GetParam()), {device, torch::kFloat64, 1});
    EnergyFitOptions options = few_steps(40);
    options.graph = graph;
    options.half = false;
    Progress silent;
    const EnergyFitResult result =
        fit_energy(*set.model, {set.train, set.validation}, options, silent);
    EXPECT_EQ(result.recorded, graph);
    weights.push_back(set.model->network().parameters().flat().detach().clone());
  }
  EXPECT_TRUE(torch::allclose(weights[0], weights[1], 1e-4, 1e-6));
}

/// The paper's form of the loss with times by their history: a fit that goes on ends the same, and
/// so does a recorded one.
TEST(EnergyFit, TimesByTheirHistoryGoOnAndCanBeRecorded) {
  const torch::Device device = device_by_name("auto");
  EnergyFitOptions options = few_steps(12);
  options.model = tiny("time");
  options.times = "history";
  options.matching = "boundary";
  options.half = false;
  const auto fitted = [&](Progress& progress, const EnergyFitCalls& calls) {
    EnergySet set(options.model, {device, torch::kFloat64, 1});
    fit_energy(*set.model, {set.train, set.validation}, options, progress, calls);
    return set.model->network().parameters().flat().detach().clone();
  };
  Progress silent;
  const Tensor whole = fitted(silent, {});
  NamedTensors state;
  EnergyFitCalls calls;
  calls.save = [&](const NamedTensors& saved) { state = saved; };
  StopAfter stop(1);
  fitted(stop, calls);
  EnergyFitCalls resume;
  resume.resume = state;
  EXPECT_TRUE(torch::allclose(fitted(silent, resume), whole, 1e-4, 1e-6));
  options.graph = false;
  EXPECT_TRUE(torch::allclose(fitted(silent, {}), whole, 1e-4, 1e-6));
  options.times = "stratified";
  EXPECT_FALSE(torch::allclose(fitted(silent, {}), whole, 1e-4, 1e-6));
  options.model.objective = "velocity";
  options.times = "history";
  EXPECT_THROW(options.check(), Error);
}

}  // namespace
}  // namespace dre
