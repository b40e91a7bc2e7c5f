#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <cmath>

#include "dre/base/error.h"
#include "dre/objective/make_objective.h"
#include "dre/score/classifiers.h"
#include "tests/apps/energy_set.h"
#include "tests/data/files.h"
#include "tests/density/examples.h"
#include "tests/network/plain_unets.h"
#include "tests/support/stop_after.h"

namespace dre {
namespace {

using namespace dre::testing;

TEST(Energy, StartsAtTheNoiseModelOnEveryPath) {
  EnergySet set("velocity");
  const EnergyReport report = set.report();
  EXPECT_NEAR(report.direct.value, report.noise.value, 1e-6);
  EXPECT_NEAR(report.direct_exact.value, report.noise.value, 1e-6);
  EXPECT_NEAR(report.flow.value, report.noise.value, 1e-4);
  EXPECT_NEAR(report.flow_by_variance.value, report.noise.value, 1e-4);
  EXPECT_EQ(report.flow_evaluations, 32);
  EXPECT_FALSE(report.direct_seconds);  // there are no 100 images
}

TEST(Energy, EveryObjectiveTrainsAndEvaluates) {
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

class EnergyBridge : public ::testing::TestWithParam<const char*> {
 protected:
  EnergySet make_set() const {
    return EnergySet(tiny("velocity", GetParam()), {torch::kCPU, torch::kFloat32, 1});
  }
};

INSTANTIATE_TEST_SUITE_P(All, EnergyBridge, ::testing::Values("latent", "images"),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(EnergyBridge, TrainingBeatsTheNoiseModel) {
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

/// The paper's joint objective on its U-Net, written with plain operations: the slope of the time
/// score along the path by double backward, dx/dtheta = -sin x0 + cos eps.
TEST(Energy, JointLossMatchesDoubleBackward) {
  const Context context{torch::kCPU, torch::kFloat64, 5};
  const int64_t n = 3, side = 20;
  EnergyOptions options = tiny("joint");
  options.groups = 4;
  const EnergyModel model(gaussian_noise(pictures(900, side, 1), 1, context), options, context);
  auto data = context.generator("data"), draws = context.generator("draws"), same = draws.clone();
  const Tensor x0 = normal({n, side * side}, torch::kFloat64, data);
  const Tensor t = torch::tensor({{0.2}, {0.5}, {0.9}}, torch::kFloat64);
  ObjectiveOptions how;
  how.time_weight = "one";
  how.data_term = "denoising";
  const auto objective = make_objective("joint", model.score(), model.bridge(), {1, 0, 1}, how);
  const Tensor loss = objective->terms({x0, x0}, t, draws).at_time;

  const auto [from, to] = model.bridge()->interval();
  ASSERT_EQ(to - from, 1);  // times are then taken as they come
  const BridgePoint point = draw_point(*model.bridge(), x0, x0, t, same);
  const Tensor theta = t * (M_PI / 2), x = point.x.detach().requires_grad_();
  Plain weights;
  std::vector<Tensor> leaves;
  for (const auto& [name, leaf] : model.network().parameters().named())
    leaves.push_back(weights[name] = leaf);
  const Tensor scores = plain_unet(weights, x, t, side, 4);
  const Tensor s = scores.select(1, 0);
  const Tensor slope = torch::autograd::grad({s.sum()}, {x}, {}, true, true)[0];
  const Tensor velocity = (theta.cos() * point.noise - theta.sin() * x0) * (M_PI / 2);
  const Tensor expected =
      0.5 * (theta.sin() * scores.narrow(1, 1, side * side) + point.noise).square().sum(1) +
      0.5 * s.square() - (slope * velocity).sum(1);
  EXPECT_TRUE(torch::allclose(loss, expected, 1e-9));
  const auto ours = torch::autograd::grad({loss.mean()}, leaves);
  const auto theirs = torch::autograd::grad({expected.mean()}, leaves);
  for (size_t i = 0; i < leaves.size(); ++i)
    EXPECT_TRUE(torch::allclose(ours[i], theirs[i], 1e-7, 1e-10)) << "leaf " << i;
}

/// Of a noise model that is not linear the network sees the pixels, too: its outputs then change
/// with z along two ways, which tangents and gradients must both follow.
TEST(Energy, PixelsAreSeenWithTheirTangentsAndGradients) {
  const Context context{torch::kCPU, torch::kFloat64, 3};
  auto generator = context.generator("points");
  for (const DensityPtr& noise : {copula_example(16), spline_flow_example(4, 4, 1)}) {
    SCOPED_TRACE(noise->name());
    EnergyOptions options = tiny("velocity");
    options.pixel_view = true;
    EnergyModel model(noise, options, context);
    {
      const torch::NoGradGuard no_grad;
      Tensor flat = model.network().parameters().flat();
      flat.add_(0.2 * normal(flat.sizes(), flat.options(), generator));
    }
    const Tensor t = torch::tensor({{0.1}, {0.5}, {0.8}}, torch::kFloat64);
    const Tensor z = normal({3, 16}, torch::kFloat64, generator);
    const Tensor way = normal({3, 16}, torch::kFloat64, generator);
    EXPECT_EQ(dre::at(model.network().parameters().named(), "first.weight").size(3), 4);
    EXPECT_EQ(dre::at(model.network().parameters().named(), "last.weight").size(0), 3);
    const auto network = [&](const Dual& x, const Dual& at) {
      return model.network().forward(x, at);
    };
    const auto out = [&](const Tensor& x) { return network(x, t).value; };
    const double step = 1e-6;
    const Tensor slope = (out(z + step * way) - out(z - step * way)) / (2 * step);
    const Tensor rise = (network(z, t + step).value - network(z, t - step).value) / (2 * step);
    {
      const torch::NoGradGuard no_grad;
      const Tensor one = torch::ones_like(t);
      const auto near = [](const Tensor& a, const Tensor& b) {
        EXPECT_LT((a - b).abs().max().item<double>(), 1e-6 * (1 + b.abs().max().item<double>()));
      };
      near(network({z, way}, t).tangent, slope);
      near(network(z, {t, one}).tangent, rise);
      near(network({z, way}, {t, one}).tangent, slope + rise);
    }
    EXPECT_THROW(network({z, way}, t), Error);  // gradients of tangents would be lost
    const Tensor at = z.clone().requires_grad_();
    const Tensor weight = normal(slope.sizes(), torch::kFloat64, generator);
    const Tensor gradient = torch::autograd::grad({(out(at) * weight).sum()}, {at})[0];
    EXPECT_NEAR((gradient * way).sum().item<double>(), (slope * weight).sum().item<double>(),
                1e-6 * (1 + (slope * weight).abs().sum().item<double>()));
    // Gradients of the parameters, without those of z, and along with them.
    std::vector<Tensor> leaves;
    for (const auto& [name, leaf] : model.network().parameters().named()) leaves.push_back(leaf);
    const auto alone = torch::autograd::grad({(out(z) * weight).sum()}, leaves);
    const auto along = torch::autograd::grad({(out(at) * weight).sum()}, leaves);
    for (size_t i = 0; i < leaves.size(); ++i)
      EXPECT_TRUE(torch::allclose(alone[i], along[i], 1e-8, 1e-10)) << "leaf " << i;
  }
}

/// Classifiers that see pixels: the slope of their log-ratio, which drives annealing, follows the
/// view; and a step moves all weights, those of the view's channel included.
TEST(Energy, ClassifiersSeePixels) {
  const Context context{torch::kCPU, torch::kFloat64, 3};
  auto generator = context.generator("points");
  const Tensor train = pictures(60, 20, 1), validation = pictures(10, 20, 2);
  for (const char* objective : {"nce", "tre", "conditional"}) {
    SCOPED_TRACE(objective);
    EnergyOptions options = tiny(objective);
    options.pixel_view = true;
    EnergyModel model(copula_example(400), options, context);
    const Tensor first = dre::at(model.network().parameters().named(), "down.0.conv.weight");
    ASSERT_EQ(first.size(3), 2);
    const Tensor before = first.detach().clone();
    Progress silent;
    fit_energy(model, {train, validation}, few_steps(3), silent);
    EXPECT_GT((first - before).abs().amin(torch::IntArrayRef({0, 1, 2})).min().item<double>(), 0);
    const Tensor z = normal({3, 400}, torch::kFloat64, generator).requires_grad_();
    const Tensor way = normal({3, 400}, torch::kFloat64, generator);
    const auto ratio = [&](const Tensor& at) { return energy_log_ratio(model, at, 4).sum(); };
    const Tensor slope = torch::autograd::grad({ratio(z)}, {z})[0];
    const torch::NoGradGuard no_grad;
    const double step = 1e-6;
    const double rise =
        ((ratio(z + step * way) - ratio(z - step * way)) / (2 * step)).item<double>();
    // The copula's splines have kinks in their slopes, which differences of values blur.
    EXPECT_NEAR((slope * way).sum().item<double>(), rise, 2e-5 * (1 + std::abs(rise)));
  }
  EnergyOptions time = tiny("time");
  time.pixel_view = true;
  EXPECT_THROW(EnergyModel(copula_example(400), time, context), Error);
  EXPECT_NO_THROW(EnergyModel(gaussian_example(400), time, context));
}

TEST(Energy, WaymarksHaveEqualSharesOfTheAngles) {
  EnergyOptions options = tiny("tre");
  options.waymarks = "angles";
  const EnergyModel model(gaussian_example(400), options, {torch::kCPU, torch::kFloat64, 3});
  const auto& score = dynamic_cast<const TelescopeScore&>(model.score());
  const AngleDensity& angles = model.angles();
  ASSERT_EQ(score.times().size(0), 4);
  const std::vector<double> expected = {0, angles.at(1.0 / 3).t, angles.at(2.0 / 3).t, 1};
  for (int64_t k = 0; k < 4; ++k) EXPECT_NEAR(score.times()[k].item<double>(), expected[k], 1e-12);
}

/// The correction is the integral of the mean time score over points of the bridge, here drawn by
/// hand from latent points of the noise model.
TEST_P(EnergyBridge, CorrectionMakesTheMeanScoreVanish) {
  EnergySet set = make_set();
  set.move_weights();
  const torch::NoGradGuard no_grad;
  const EnergyModel& model = *set.model;
  auto generator = set.context.generator("correction"), other = set.context.generator("by hand");
  EnergyEvaluateOptions options;
  options.nodes = 8;
  const Tensor y = set.latent(40).repeat({5, 1});
  Progress silent;
  const double first = *zero_mean_correction(model, y, options, generator, silent);
  const TimeNodes nodes = time_nodes(model, options.nodes);
  const int64_t repeats = 10;
  Tensor totals = torch::zeros({repeats}, torch::kFloat64);
  for (int64_t i = 0; i < repeats; ++i)
    for (int64_t k = 0; k < nodes.t.size(0); ++k) {
      const Tensor t = nodes.t[k].expand({y.size(0), 1});
      const Tensor noise = model.space().of_latent(normal(y.sizes(), y.options(), other));
      const Tensor eps = normal(y.sizes(), y.options(), other);
      const Tensor x = point_at(*model.bridge(), y, noise, eps, t).x;
      totals[i] +=
          nodes.weight[k] * ability<TimeScore>(model.score())->time_score(x, t).value.mean();
    }
  const double once = totals.std().item<double>();
  EXPECT_NEAR(first, totals.mean().item<double>(), 5 * once);
  EXPECT_GT(std::abs(first), 5 * once);
  const Tensor before = energy_log_ratio(model, y, 8);
  set.model->correction = first;
  EXPECT_NEAR((energy_log_ratio(model, y, 8) - before).mean().item<double>(), first, 1e-3);
}

TEST_P(EnergyBridge, SavedModelsSayTheSame) {
  const Directory directory;
  EnergySet set = make_set();
  set.move_weights();
  set.model->correction = 0.5;
  save_energy(directory.path("m.safetensors"), *set.model, {{"seed", 3}});
  const EnergyFile file = load_energy(directory.path("m.safetensors"), set.context);
  const torch::NoGradGuard no_grad;
  const Tensor z = set.latent(5);
  EXPECT_TRUE(
      torch::equal(energy_log_ratio(*file.model, z, 6), energy_log_ratio(*set.model, z, 6)));
  EXPECT_EQ(file.record["seed"], 3);
  EXPECT_EQ(file.model->space().between_images(), set.model->space().between_images());
  directory.write("bad.safetensors", "not a model");
  EXPECT_THROW(load_energy(directory.path("bad.safetensors")), Error);
}

/// Stopped after a step, or where a look is due.
TEST_P(EnergyBridge, AResumedFitEndsInTheSameWeights) {
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
TEST_P(EnergyBridge, AStopInTheCorrectionLeavesAStateToGoOnFrom) {
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
  EXPECT_NE(rest.model->correction, 0);
  EXPECT_EQ(rest.model->correction, whole.model->correction);
  EXPECT_TRUE(torch::equal(whole.model->network().parameters().flat(),
                           rest.model->network().parameters().flat()));
}

/// Blocks of noise images that are renewed between steps reach a step that was recorded before.
TEST_P(EnergyBridge, RecordedStepsAreTheStepsThemselves) {
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
TEST(Energy, TimesByTheirHistoryGoOnAndCanBeRecorded) {
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
