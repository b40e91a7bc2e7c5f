#include "dre/energy/anneal.h"

#include <gtest/gtest.h>

#include <cmath>

#include "dre/base/error.h"
#include "dre/energy/evaluate.h"
#include "dre/energy/log_ratio.h"
#include "tests/density/examples.h"
#include "tests/energy/energy_set.h"
#include "tests/support/stop_after.h"

namespace dre {
namespace {

using namespace dre::testing;

std::unique_ptr<Tilt> tilt_of(const EnergySet& set, const std::string& path, int64_t nodes,
                              int64_t chains, bool graph = true) {
  EnergyEvaluateOptions options;
  options.nodes = nodes;
  options.graph = graph;
  EnergyAnnealOptions anneal;
  anneal.path = path;
  anneal.chains = chains;
  return make_tilt(*set.model, options, anneal);
}

/// Away from the noise model on every path, in double precision.
EnergySet moved_set() {
  EnergySet set("velocity", torch::kFloat64);
  set.move_weights();
  set.model->correction.value = 0.5;
  return set;
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
TEST(EnergyAnnealing, AnnealingAgreesOnTheNoiseModel) {
  EnergySet set("velocity");
  Progress silent;
  EnergyEvaluateOptions options;
  options.nodes = 2;
  const EnergyAnnealReport report =
      anneal_energy(*set.model, set.validation, options, short_annealing(), set.context, silent);
  EXPECT_NEAR(report.log_normaliser.value, 0, 1e-5);
  EXPECT_NEAR(report.ais.value, report.raise.value, 1e-5);
  EXPECT_NEAR(report.crossing.value, 0, 1e-5);
  EXPECT_LT(report.crossing.standard_error, 1e-5);  // that of each bound is the images'
  EXPECT_GT(report.ais.standard_error, 1e-3);
}

/// e^5 times the density of the noise model: what is too much shows in log Z, and is taken off
/// again.
TEST(EnergyAnnealing, TheNormaliserIsTakenOffTheBits) {
  EnergySet set("velocity");
  Progress silent;
  EnergyEvaluateOptions options;
  options.nodes = 2;
  const auto anneal = [&] {
    return anneal_energy(*set.model, set.validation, options, short_annealing(), set.context,
                         silent);
  };
  const auto evaluate = [&] {
    auto generator = set.context.generator("evaluation");
    return evaluate_energy(*set.model, set.validation, options, generator, silent);
  };
  const EnergyAnnealReport plain = anneal();
  set.model->correction = {5, 2};
  const EnergyAnnealReport raised = anneal();
  EXPECT_NEAR(raised.log_normaliser.value, 5, 1e-4);
  EXPECT_NEAR(raised.ais.value, plain.ais.value, 1e-5);
  EXPECT_NEAR(raised.raise.value, plain.ais.value, 1e-5);
  EXPECT_TRUE(judge_annealing(plain, set.model->dimension()).empty());
  const auto warnings = judge_annealing(raised, set.model->dimension());
  ASSERT_EQ(warnings.size(), 1);
  EXPECT_EQ(warnings[0].code, "not-normalised");

  const EnergyReport report = evaluate();
  const double bits = 5 / (static_cast<double>(set.model->dimension()) * std::log(2.0));
  EXPECT_NEAR(report.direct.value, report.noise.value, 1e-5) << "without the correction";
  EXPECT_NEAR(report.corrected.value, report.noise.value - bits, 1e-5);
  EXPECT_NEAR(report.direct.standard_error, report.noise.standard_error, 1e-5);
  EXPECT_NEAR(report.corrected.standard_error, std::hypot(report.direct.standard_error, 0.4 * bits),
              1e-9)
      << "with the error of the correction";
}

TEST(EnergyAnnealing, AnEstimateOfOneChainIsTold) {
  EnergyAnnealReport report;
  report.log_normaliser = {8, 1};  // 0.0147 bits, 0.0092 of them sure
  report.effective_chains = 1.2;
  const auto warnings = judge_annealing(report, 784);
  ASSERT_EQ(warnings.size(), 1);
  EXPECT_EQ(warnings[0].code, "few-chains");
}

TEST(EnergyAnnealing, FastAnnealingIsTold) {
  EnergyAnnealReport report;
  report.effective_chains = 50;
  report.crossing = {0.0029, 0.001};
  EXPECT_TRUE(judge_annealing(report, 784).empty());
  report.crossing.value = 0.0031;
  ASSERT_EQ(judge_annealing(report, 784).size(), 1);
  EXPECT_EQ(judge_annealing(report, 784)[0].code, "crossed-bounds");
  report.crossing = {8e-8, 1e-8};  // rounding
  EXPECT_TRUE(judge_annealing(report, 784).empty());
  EnergyAnnealReport twice = report;
  report.log_normaliser = {0, 0.2}, twice.log_normaliser = {0.8, 0.2};
  EXPECT_TRUE(judge_doubling(report, twice, 784).empty());
  twice.log_normaliser.value = 0.9;
  ASSERT_EQ(judge_doubling(report, twice, 784).size(), 1);
  EXPECT_EQ(judge_doubling(report, twice, 784)[0].code, "few-temperatures");
  report.log_normaliser = {0, 1e-6}, twice.log_normaliser = {1e-5, 1e-6};
  EXPECT_TRUE(judge_doubling(report, twice, 784).empty());
}

/// So that their errors tell how far apart they may be. The first point of a chain is hardly moved
/// by one transition.
TEST(EnergyAnnealing, ChainsOfOtherNumbersOfTemperaturesAreIndependent) {
  EnergySet set("velocity");
  Progress silent;
  EnergyEvaluateOptions options;
  options.nodes = 2;
  options.rows = 2;
  EnergyAnnealOptions anneal = short_annealing();
  anneal.leapfrogs = 1;
  anneal.chains = 40;
  const auto ends = [&](int64_t steps) {
    anneal.steps = steps;
    return anneal_energy(*set.model, set.validation, options, anneal, set.context, silent)
        .samples.flatten();
  };
  const auto correlation = [](const Tensor& a, const Tensor& b) {
    return at::corrcoef(torch::stack({a, b}))[0][1].item<double>();
  };
  const Tensor once = ends(1);
  EXPECT_TRUE(once.equal(ends(1)));
  const double chance = 1 / std::sqrt(static_cast<double>(once.numel()));
  EXPECT_LT(std::abs(correlation(once, ends(2))), 4 * chance);
}

/// A stop ends every stage: the energies of the images, the pilot runs, both annealings.
TEST(EnergyAnnealing, AnnealingStopsWhereItIsAskedTo) {
  EnergySet set("velocity");
  EnergyEvaluateOptions options;
  options.nodes = 2;
  options.rows_at_once = 10;
  for (const int questions : {0, 2, 5, 40}) {
    StopAfter stop(questions);
    EXPECT_FALSE(
        anneal_energy(*set.model, set.validation, options, short_annealing(), set.context, stop)
            .finished)
        << questions;
  }
}

/// The ends of both paths are the noise and the model, whatever lies between.
TEST(EnergyAnnealing, TiltsBeginAtTheNoiseAndEndAtTheModel) {
  const torch::NoGradGuard no_grad;
  const EnergySet set = moved_set();
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
TEST(EnergyAnnealing, TheTimeTiltFollowsTheTimeScore) {
  const torch::NoGradGuard no_grad;
  const EnergySet set = moved_set();
  const Tensor z = set.latent(5);
  const auto tilt = tilt_of(set, "time", 200, 5);
  const double h = 1e-3;
  for (const double beta : {0.3, 0.8}) {
    const Tensor slope = (tilt->value(z, beta + h) - tilt->value(z, beta - h)) / (2 * h);
    const AngleDensity::Quantile at = set.model->angles().at(1 - beta);
    const Tensor t = torch::full({5, 1}, at.t, z.options());
    const Tensor score = ability<TimeScore>(set.model->score())->time_score(z, t).value;
    const Tensor expected = 0.5 - score * at.slope;
    // Nodes that move make the difference noisy; a correction left out would show as 0.5.
    EXPECT_LT((slope - expected).abs().max().item<double>(), 0.02) << beta;
  }
}

void expect_forces_are_gradients(const EnergySet& set, const Tensor& z, const Names& paths) {
  const torch::NoGradGuard no_grad;
  const int64_t d = z.size(1);
  const double h = 1e-5;
  const Tensor offsets = h * torch::eye(d, torch::kFloat64);
  for (const std::string& path : paths) {
    const auto tilt = tilt_of(set, path, 6, d);
    const Tensor rise = tilt->value(z + offsets, 0.6) - tilt->value(z - offsets, 0.6);
    EXPECT_TRUE(torch::allclose(tilt->force(z, 0.6)[0], rise / (2 * h), 1e-5, 1e-6)) << path;
  }
}

TEST(EnergyAnnealing, ForcesAreGradients) {
  const EnergySet set = moved_set();
  expect_forces_are_gradients(set, set.latent(1), {"time", "power"});
}

/// Chains run in the latent space of the noise model, and forces go through the noise model to the
/// images that log r is of.
TEST(EnergyAnnealing, ForcesAreGradientsBetweenImages) {
  const Context context{torch::kCPU, torch::kFloat64, 1};
  EnergySet set(tiny("velocity", "images"), context, spline_flow_example(4, 4, 1));
  set.move_weights();
  auto generator = context.generator("point");
  const Tensor z = normal({1, 16}, torch::kFloat64, generator);
  expect_forces_are_gradients(set, z, {"power"});
  const Tensor whole = energy_log_ratio(*set.model, set.model->space().of_latent(z), 12);
  EXPECT_TRUE(torch::allclose(tilt_of(set, "power", 12, 2)->value(z, 1), whole, 1e-9, 1e-9));
}

/// Powers grow by one number, value and force alike; learned densities do not.
TEST(EnergyAnnealing, OnlyPowersTellHowTheyGrow) {
  const torch::NoGradGuard no_grad;
  const EnergySet set = moved_set();
  const Tensor z = set.latent(3);
  const auto power = tilt_of(set, "power", 6, 3);
  const auto growth = power->growth(0.5, 0.8);
  ASSERT_TRUE(growth);
  EXPECT_TRUE(torch::allclose(power->value(z, 0.8), *growth * power->value(z, 0.5)));
  EXPECT_TRUE(torch::allclose(power->force(z, 0.8), *growth * power->force(z, 0.5)));
  EXPECT_FALSE(tilt_of(set, "time", 6, 3)->growth(0.5, 0.8));
}

/// A graph that was recorded at one β and one set of points is replayed at others; between images
/// it goes through the noise model.
TEST(EnergyAnnealing, RecordedTiltsFollowTheirPointsAndTemperatures) {
  const torch::Device device = device_by_name("auto");
  if (device.is_cpu()) GTEST_SKIP() << "no CUDA here: nothing is recorded";
  const torch::NoGradGuard no_grad;
  for (const char* bridge : {"latent", "images"}) {
    EnergySet set(tiny("velocity", bridge), {device, torch::kFloat64, 1});
    set.move_weights();
    auto generator = set.context.device_generator("points");
    const Tensor z = normal({5, 16}, set.context.options(), generator);
    const Names images = {"power"}, latent = {"time", "power"};
    for (const std::string& path : std::string(bridge) == "images" ? images : latent) {
      const auto recorded = tilt_of(set, path, 6, 5), other = tilt_of(set, path, 6, 5, false);
      for (int i = 1; i <= 8; ++i) {
        SCOPED_TRACE(text(bridge, ", ", path, ", question ", i));
        const double beta = i / 8.0;
        const Tensor at = z * (1 + 0.1 * i);
        EXPECT_TRUE(torch::allclose(recorded->value(at, beta), other->value(at, beta), 1e-8, 1e-8));
        EXPECT_TRUE(torch::allclose(recorded->force(at, beta), other->force(at, beta), 1e-8, 1e-8));
      }
    }
  }
}

/// The normaliser does not depend on the densities in between.
TEST(EnergyAnnealing, BothPathsFindTheSameNormaliser) {
  EnergySet set("velocity", torch::kFloat64);
  Progress silent;
  EnergyFitOptions fit = few_steps(60);
  fit.train.evaluate_every = 60;
  fit_energy(*set.model, {set.train, set.validation}, fit, silent);
  EnergyEvaluateOptions options;
  options.nodes = 4;
  options.rows = 4;
  EnergyAnnealOptions anneal = short_annealing();
  anneal.chains = 40;
  anneal.steps = 12;
  anneal.pilot_steps = 4;
  std::vector<EnergyAnnealReport> reports;
  for (const char* path : {"time", "power"}) {
    anneal.path = path;
    reports.push_back(anneal_energy(*set.model, set.validation, options, anneal,
                                    set.context.child(path), silent));
    EXPECT_GT(reports.back().ais_acceptance, 0.3) << path;
    EXPECT_GT(reports.back().effective_chains, 5) << path;
  }
  const Measured one = reports[0].log_normaliser, other = reports[1].log_normaliser;
  EXPECT_NEAR(one.value, other.value, 4 * std::hypot(one.standard_error, other.standard_error));
}

TEST(EnergyAnnealing, AClassifierHasNoDensitiesInBetween) {
  EnergySet set("nce");
  EXPECT_THROW(tilt_of(set, "time", 2, 2), Error);
  EXPECT_THROW(tilt_of(set, "elsewhere", 2, 2), Error);
  EXPECT_TRUE(tilt_of(set, "auto", 2, 2));
}

/// A few images annealed backwards stand for all: on an untrained model, whose annealing is exact,
/// they add no error to that of the images.
TEST(EnergyAnnealing, RaiseOfAFewImagesIsCarriedOverToAll) {
  EnergySet set("velocity");
  Progress silent;
  EnergyEvaluateOptions options;
  options.nodes = 2;
  options.rows = 8;
  const EnergyAnnealReport report =
      anneal_energy(*set.model, set.validation, options, short_annealing(), set.context, silent);
  EXPECT_EQ(report.raise_rows, 8);
  EXPECT_NEAR(report.raise.value, report.ais.value, 1e-5);
  EXPECT_NEAR(report.raise.standard_error, report.ais.standard_error, 1e-5);
}

}  // namespace
}  // namespace dre
