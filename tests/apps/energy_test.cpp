#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <cmath>

#include "dre/apps/energy_anneal.h"
#include "dre/apps/energy_fit.h"
#include "dre/base/error.h"
#include "dre/data/mnist.h"
#include "dre/objective/make_objective.h"
#include "tests/data/files.h"
#include "tests/network/plain_unets.h"
#include "tests/support/stop_after.h"

namespace dre {
namespace {

/// Images of a few grey levels around a random bright square: far from Gaussian logits.
Tensor pictures(int64_t n, int64_t side, uint64_t seed) {
  auto generator = Context{torch::kCPU, torch::kFloat32, seed}.generator("pictures");
  const Tensor noise = at::randint(0, 40, {n, side * side}, generator, torch::kFloat32);
  const Tensor bright = (normal({n, 1}, torch::kFloat32, generator) > 0).to(torch::kFloat32);
  return (noise + 150 * bright).to(torch::kUInt8);
}

EnergyOptions tiny(const std::string& objective) {
  EnergyOptions options;
  options.objective = objective;
  options.width = 4;
  options.levels = 2;
  options.blocks = 1;
  options.groups = 2;
  options.bridges = 2;
  return options;
}

/// Four pixels along each side are enough for the residual U-Net, the paper's needs twenty.
int64_t side_of(const std::string& objective) { return objective == "velocity" ? 4 : 20; }

struct Set {
  Context context;
  Tensor train, validation;
  std::unique_ptr<EnergyModel> model;

  explicit Set(const std::string& objective, torch::ScalarType type = torch::kFloat32)
      : context{torch::kCPU, type, 1},
        train(pictures(objective == "velocity" ? 200 : 900, side_of(objective), 1)),
        validation(pictures(40, side_of(objective), 2)),
        model(std::make_unique<EnergyModel>(gaussian_noise(train, 1, context), tiny(objective),
                                            context)) {}

  void move_weights() {
    const torch::NoGradGuard no_grad;
    auto generator = context.generator("move");
    Tensor flat = model->network().parameters().flat();
    flat.add_(0.2 * normal(flat.sizes(), flat.options(), generator));
  }

  Tensor latent(int64_t rows) {
    auto generator = context.generator("latent");
    const Logits logits = dequantise(validation.slice(0, 0, rows), generator, context.dtype);
    return model->noise().to_latent(logits.x).point;
  }

  EnergyReport report() {
    Progress silent;
    auto generator = context.generator("report");
    EnergyEvaluateOptions options;
    options.nodes = 8;
    options.flow_steps = 8;
    return evaluate_energy(*model, validation, options, generator, silent);
  }
};

EnergyFitOptions few_steps(int64_t steps) {
  EnergyFitOptions options;
  options.train.steps = steps;
  options.train.batch = 16;
  options.train.warmup = 2;
  options.train.rate = 3e-3;
  options.train.average = 0.9;
  options.train.evaluate_every = 4;
  options.looks.rows = 4;
  options.looks.nodes = 4;
  options.looks.flow_steps = 2;
  return options;
}

TEST(Energy, StartsAtTheNoiseModelOnEveryPath) {
  Set set("velocity");
  const EnergyReport report = set.report();
  EXPECT_NEAR(report.direct.value, report.noise.value, 1e-6);
  EXPECT_NEAR(report.flow.value, report.noise.value, 1e-4);
  EXPECT_NEAR(report.flow_by_variance.value, report.noise.value, 1e-4);
  EXPECT_EQ(report.flow_evaluations, 32);
}

TEST(Energy, EveryObjectiveTrainsAndEvaluates) {
  for (const auto& objective : energy_objectives()) {
    SCOPED_TRACE(objective);
    Set set(objective);
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
    EXPECT_EQ(has_flow(*set.model), objective == "velocity");
  }
}

TEST(Energy, TrainingBeatsTheNoiseModel) {
  Set set("velocity");
  Progress silent;
  EnergyFitOptions options = few_steps(120);
  options.train.batch = 24;
  options.train.rate = 5e-3;
  options.train.evaluate_every = 120;
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
  testing::Plain weights;
  std::vector<Tensor> leaves;
  for (const auto& [name, leaf] : model.network().parameters().named())
    leaves.push_back(weights[name] = leaf);
  const Tensor scores = testing::plain_unet(weights, x, t, side, 4);
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

/// The flow's density is that of a map whose log-determinant can be had by finite differences; the
/// average over an orthogonal set of signs is the exact trace.
TEST(Energy, FlowDensityIsNormalised) {
  Set set("velocity", torch::kFloat64);
  set.move_weights();
  const int64_t d = 16, steps = 28;
  const Tensor z = set.latent(1);
  Tensor signs = torch::ones({1, 1}, torch::kFloat64);
  while (signs.size(0) < d)
    signs = torch::cat({torch::cat({signs, signs}, 1), torch::cat({signs, -signs}, 1)}, 0);
  const Tensor rows = z.expand({d, d});
  const double density =
      flow_density(*set.model, rows, signs, steps).by_probe.mean().item<double>();
  const torch::NoGradGuard no_grad;
  // Densities at points along the flow's own inverse: two-sided differences of the end point.
  const auto& score = set.model->score();
  const auto end = [&](const Tensor& start) {
    Tensor y = start;
    const double h = 1.0 / steps;
    const auto velocity = [&](const Tensor& at, double u) {
      const auto q = set.model->angles().at(u);
      const Tensor t = torch::full({at.size(0), 1}, q.angle / (M_PI / 2), at.options());
      return ability<FlowField>(score)->flow(at, t).velocity * (q.slope / (M_PI / 2));
    };
    for (int64_t i = 0; i < steps; ++i) {
      const double u = static_cast<double>(i) * h;
      const Tensor k1 = velocity(y, u), k2 = velocity(y + h / 2 * k1, u + h / 2);
      const Tensor k3 = velocity(y + h / 2 * k2, u + h / 2);
      const Tensor k4 = velocity(y + h * k3, std::min(1.0, u + h));
      y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
    }
    return y;
  };
  const double step = 1e-5;
  const Tensor moves = step * torch::eye(d, torch::kFloat64);
  const Tensor jacobian = (end(z + moves) - end(z - moves)) / (2 * step);
  const double expected = standard_normal_log_prob(end(z)).item<double>() +
                          std::get<1>(torch::slogdet(jacobian)).item<double>();
  EXPECT_NEAR(density, expected, 2e-3);
}

TEST(Energy, CorrectionMakesTheMeanScoreVanish) {
  Set set("velocity");
  set.move_weights();
  auto generator = set.context.generator("correction");
  const EnergyEvaluateOptions options;
  const double first = zero_mean_correction(*set.model, set.latent(40), options, generator);
  EXPECT_GT(std::abs(first), 0.01);
  const Tensor z = set.latent(5);
  const torch::NoGradGuard no_grad;
  const Tensor before = energy_log_ratio(*set.model, z, 8);
  set.model->correction = first;
  EXPECT_NEAR((energy_log_ratio(*set.model, z, 8) - before).mean().item<double>(), first, 1e-3);
}

std::unique_ptr<Tilt> tilt_of(const Set& set, const std::string& path, int64_t nodes,
                              int64_t chains) {
  EnergyEvaluateOptions options;
  options.nodes = nodes;
  EnergyAnnealOptions anneal;
  anneal.path = path;
  anneal.chains = chains;
  return make_tilt(*set.model, options, anneal);
}

EnergyAnnealOptions short_annealing() {
  EnergyAnnealOptions anneal;
  anneal.chains = 4;
  anneal.steps = 4;
  anneal.pilot_steps = 2;
  anneal.leapfrogs = 2;
  anneal.adaptation = 0.3;
  return anneal;
}

/// An untrained model is the noise model: its normaliser is 1, and annealing finds its own bits.
TEST(Energy, AnnealingAgreesOnTheNoiseModel) {
  Set set("velocity");
  auto generator = set.context.generator("anneal");
  Progress silent;
  EnergyEvaluateOptions options;
  options.nodes = 2;
  const EnergyAnnealReport report =
      anneal_energy(*set.model, set.validation, options, short_annealing(), generator, silent);
  EXPECT_NEAR(report.log_normaliser, 0, 1e-5);
  EXPECT_NEAR(report.ais.value, report.raise.value, 1e-5);
}

/// A stop ends every stage: the energies of the images, the pilot runs, both annealings.
TEST(Energy, AnnealingStopsWhereItIsAskedTo) {
  Set set("velocity");
  EnergyEvaluateOptions options;
  options.nodes = 2;
  options.rows_at_once = 10;
  for (const int questions : {0, 2, 5, 40}) {
    testing::StopAfter stop(questions);
    auto generator = set.context.generator("anneal");
    EXPECT_FALSE(
        anneal_energy(*set.model, set.validation, options, short_annealing(), generator, stop)
            .finished)
        << questions;
  }
}

/// The ends of both paths are the noise and the model, whatever lies between.
TEST(Energy, TiltsBeginAtTheNoiseAndEndAtTheModel) {
  const torch::NoGradGuard no_grad;
  Set set("velocity", torch::kFloat64);
  set.move_weights();
  set.model->correction = 0.5;
  const Tensor z = set.latent(5);
  const Tensor whole = energy_log_ratio(*set.model, z, 12);
  for (const char* path : {"time", "power"})
    for (const int64_t chains : {5, 3}) {  // recorded for as many points as there are, or others
      SCOPED_TRACE(path);
      const auto tilt = tilt_of(set, path, 12, chains);
      EXPECT_EQ(tilt->value(z, 0).abs().max().item<double>(), 0);
      EXPECT_EQ(tilt->force(z, 0).abs().max().item<double>(), 0);
      EXPECT_TRUE(torch::allclose(tilt->value(z, 1), whole, 1e-10, 1e-10));
    }
}

/// L_β of the time path is an integral that ends at the time of β: its slope in β is minus the time
/// score there, and a share of the correction.
TEST(Energy, TheTimeTiltFollowsTheTimeScore) {
  const torch::NoGradGuard no_grad;
  Set set("velocity", torch::kFloat64);
  set.move_weights();
  set.model->correction = 0.5;
  const Tensor z = set.latent(5);
  const auto tilt = tilt_of(set, "time", 200, 5);
  const double h = 1e-3;
  for (const double beta : {0.3, 0.8}) {
    const Tensor slope = (tilt->value(z, beta + h) - tilt->value(z, beta - h)) / (2 * h);
    const AngleDensity::Quantile at = set.model->angles().at(1 - beta);
    const Tensor t = torch::full({5, 1}, at.angle / (M_PI / 2), z.options());
    const Tensor score = ability<TimeScore>(set.model->score())->time_score(z, t).value;
    const Tensor expected = 0.5 - score * at.slope / (M_PI / 2);
    // Nodes that move make the difference noisy; a correction left out would show as 0.5.
    EXPECT_LT((slope - expected).abs().max().item<double>(), 0.02) << beta;
  }
}

TEST(Energy, ForcesAreGradients) {
  const torch::NoGradGuard no_grad;
  Set set("velocity", torch::kFloat64);
  set.move_weights();
  const Tensor z = set.latent(1);
  const int64_t d = z.size(1);
  const double h = 1e-5;
  const Tensor offsets = h * torch::eye(d, torch::kFloat64);
  for (const char* path : {"time", "power"}) {
    const auto tilt = tilt_of(set, path, 6, d);
    const Tensor rise = tilt->value(z + offsets, 0.6) - tilt->value(z - offsets, 0.6);
    EXPECT_TRUE(torch::allclose(tilt->force(z, 0.6)[0], rise / (2 * h), 1e-5, 1e-6)) << path;
  }
}

/// The normaliser does not depend on the densities in between.
TEST(Energy, BothPathsFindTheSameNormaliser) {
  Set set("velocity", torch::kFloat64);
  Progress silent;
  EnergyFitOptions fit = few_steps(60);
  fit.train.evaluate_every = 60;
  fit_energy(*set.model, {set.train, set.validation}, fit, silent);
  EnergyEvaluateOptions options;
  options.nodes = 4;
  options.rows = 4;
  EnergyAnnealOptions anneal;
  anneal.chains = 40;
  anneal.steps = 12;
  anneal.pilot_steps = 4;
  anneal.leapfrogs = 2;
  anneal.adaptation = 0.3;
  std::vector<EnergyAnnealReport> reports;
  for (const char* path : {"time", "power"}) {
    anneal.path = path;
    auto generator = set.context.generator(path);
    reports.push_back(
        anneal_energy(*set.model, set.validation, options, anneal, generator, silent));
    EXPECT_GT(reports.back().ais_acceptance, 0.3) << path;
    EXPECT_GT(reports.back().effective_chains, 5) << path;
  }
  const double error = std::hypot(reports[0].log_normaliser_error, reports[1].log_normaliser_error);
  EXPECT_NEAR(reports[0].log_normaliser, reports[1].log_normaliser, 4 * error);
}

TEST(Energy, AClassifierHasNoDensitiesInBetween) {
  Set set("nce");
  EXPECT_THROW(tilt_of(set, "time", 2, 2), Error);
  EXPECT_THROW(tilt_of(set, "elsewhere", 2, 2), Error);
  EXPECT_TRUE(tilt_of(set, "auto", 2, 2));
}

/// A few images annealed backwards stand for all: on an untrained model, whose annealing is exact,
/// they add no error to that of the images.
TEST(Energy, RaiseOfAFewImagesIsCarriedOverToAll) {
  Set set("velocity");
  Progress silent;
  EnergyEvaluateOptions options;
  options.nodes = 2;
  options.rows = 8;
  auto generator = set.context.generator("anneal");
  const EnergyAnnealReport report =
      anneal_energy(*set.model, set.validation, options, short_annealing(), generator, silent);
  EXPECT_EQ(report.raise_rows, 8);
  EXPECT_NEAR(report.raise.value, report.ais.value, 1e-5);
  EXPECT_NEAR(report.raise.error, report.ais.error, 1e-5);
}

TEST(Energy, SavedModelsSayTheSame) {
  const testing::Directory directory;
  Set set("velocity");
  set.move_weights();
  set.model->correction = 0.5;
  save_energy(directory.path("m.safetensors"), *set.model, {{"seed", 3}});
  const EnergyFile file = load_energy(directory.path("m.safetensors"), set.context);
  const torch::NoGradGuard no_grad;
  const Tensor z = set.latent(5);
  EXPECT_TRUE(
      torch::equal(energy_log_ratio(*file.model, z, 6), energy_log_ratio(*set.model, z, 6)));
  EXPECT_EQ(file.record["seed"], 3);
  directory.write("bad.safetensors", "not a model");
  EXPECT_THROW(load_energy(directory.path("bad.safetensors")), Error);
}

TEST(Energy, AResumedFitEndsInTheSameWeights) {
  const EnergyFitOptions options = few_steps(12);
  Progress silent;
  Set whole("velocity");
  fit_energy(*whole.model, {whole.train, whole.validation}, options, silent);
  NamedTensors state;
  EnergyFitCalls calls;
  calls.save = [&](const NamedTensors& saved) { state = saved; };
  Set part("velocity");
  testing::StopAfter stop(1);
  EXPECT_TRUE(
      fit_energy(*part.model, {part.train, part.validation}, options, stop, calls).interrupted);
  ASSERT_FALSE(state.empty());
  Set rest("velocity");
  EnergyFitCalls resume;
  resume.resume = state;
  const EnergyFitResult result =
      fit_energy(*rest.model, {rest.train, rest.validation}, options, silent, resume);
  EXPECT_EQ(result.steps, 12);
  EXPECT_TRUE(torch::equal(whole.model->network().parameters().flat(),
                           rest.model->network().parameters().flat()));
}

TEST(Energy, SamplesOfTheUntrainedFlowAreNoise) {
  Set set("velocity");
  auto generator = set.context.generator("samples");
  const Tensor z = flow_samples(*set.model, 400, 4, generator);
  EXPECT_NEAR(z.mean().item<double>(), 0, 5 / std::sqrt(6400.0));
  EXPECT_NEAR(z.var().item<double>(), 1, 5 * std::sqrt(2 / 6400.0));
}

}  // namespace
}  // namespace dre
