/// Energy models on a bridge between images, which meets in N(0, I).
#include <gtest/gtest.h>

#include <cmath>

#include "dre/base/error.h"
#include "dre/data/safetensors.h"
#include "dre/energy/log_ratio.h"
#include "dre/energy/tilt.h"
#include "tests/data/files.h"
#include "tests/density/examples.h"
#include "tests/energy/energy_set.h"
#include "tests/support/refusal.h"
#include "tests/support/stop_after.h"

namespace dre {
namespace {

using namespace dre::testing;

const Context in_double{torch::kCPU, torch::kFloat64, 1};

/// Of a bridge between images as of one between latent points, whatever the noise model.
TEST(EnergyImages, StartsAtTheNoiseModel) {
  for (const DensityPtr& noise : {copula_example(16), spline_flow_example(4, 4, 1)}) {
    EnergySet set(tiny("velocity", "images"), in_double, noise);
    const EnergyReport report = set.report();
    EXPECT_NEAR(report.direct.value, report.noise.value, 1e-9);
    EXPECT_NEAR(report.flow.value, report.noise.value, 1e-9);
    EXPECT_NEAR(report.flow_by_variance.value, report.noise.value, 1e-9);
    // The noise model says the same of images in its own space.
    EnergySet latent(tiny("velocity"), in_double, noise);
    EXPECT_NEAR(report.noise.value, latent.report().noise.value, 1e-9);
  }
}

/// As many nodes on each side, which a kink where they meet does not disturb.
TEST(EnergyImages, NodesMeetInTheMiddle) {
  const EnergySet set(tiny("velocity", "images"), in_double);
  const double low = set.model->options().least_angle / M_PI;
  const TimeNodes nodes = time_nodes(*set.model, 40);
  ASSERT_EQ(nodes.t.size(0), 80);
  const double found = ((nodes.t - 0.5).abs() * nodes.weight).sum().item<double>();
  EXPECT_NEAR(found, (0.5 - low) * (0.5 - low), 1e-8);
  const TimeNodes half = time_nodes(*set.model, 40, 0.5);
  ASSERT_EQ(half.t.size(0), 40);
  EXPECT_GT(half.t.min().item<double>(), 0.5);
  EXPECT_EQ(time_nodes(*set.model, 12, 0.7).t.size(0), 12);
}

/// Heads of zero say N(0, I) of both halves: exact where the noise model is the frame, and off by
/// the known difference where it is not.
TEST(EnergyImages, TheHalfOfTheNoiseModelIsComparedWithItsDensity) {
  const auto gaussian = gaussian_noise(pictures(200, side_of("velocity"), 1), 2, in_double);
  EnergySet same(tiny("velocity", "images"), in_double, gaussian);
  EXPECT_NEAR(same.report().noise_half.value, 0, 1e-9);
  EnergySet set(tiny("velocity", "images"), in_double);
  const EnergyReport report = set.report();
  auto generator = set.context.generator("report");  // the same dequantisation noise
  const Tensor y =
      set.model->space().enter(dequantise(set.validation, generator, torch::kFloat64).x).point;
  const torch::NoGradGuard no_grad;
  const double gap =
      (set.model->space().noise_log_prob(y) - standard_normal_log_prob(y)).mean().item<double>();
  EXPECT_NEAR(report.noise_half.value, gap / (16 * std::log(2.0)), 1e-9);
  EXPECT_GT(std::abs(report.noise_half.value), 0.01);
  // Away from zero the integral over that half takes part, and the correction of both does not.
  set.move_weights();
  set.model->correction.value = 0.5;
  const TimeNodes half = time_nodes(*set.model, 8, 0.5);
  double integral = 0;
  for (int64_t k = 0; k < half.t.size(0); ++k) {
    const Tensor t = half.t[k].expand({y.size(0), 1});
    const Tensor score = ability<TimeScore>(set.model->score())->time_score(y, t).value;
    integral += (half.weight[k] * score.mean()).item<double>();
  }
  EXPECT_GT(std::abs(integral), 0.1);
  EXPECT_NEAR(set.report().noise_half.value, (gap - integral) / (16 * std::log(2.0)), 1e-9);
  EXPECT_TRUE(std::isnan(EnergySet("velocity").report().noise_half.value));
}

/// From noise to data and back: the same way through both halves, each with its own steps.
TEST(EnergyImages, SamplesGoBackToTheNoiseTheyCameFrom) {
  EnergySet set(tiny("velocity", "images"), in_double, spline_flow_example(4, 4, 1));
  set.move_weights();
  auto generator = in_double.generator("samples"), same = generator.clone();
  const Tensor noise = set.model->space().draw_noise(3, same);
  Progress silent;
  const Tensor y = *flow_samples(*set.model, 3, 60, generator, silent);
  EXPECT_GT((y - noise).abs().max().item<double>(), 0.1);
  const torch::NoGradGuard no_grad;
  EXPECT_TRUE(torch::allclose(flowed(*set.model, y, 60), noise, 1e-3, 1e-3));
  EXPECT_EQ(flow_density(*set.model, y, torch::ones_like(y), 6, silent)->evaluations, 2 * 6 * 4);
}

/// Powers of the ratio lead from noise to data; the learned densities lead away from both.
TEST(EnergyImages, AnnealingGoesThroughPowersOfTheRatio) {
  EnergySet set(tiny("velocity", "images"), in_double, spline_flow_example(4, 4, 1));
  set.move_weights();
  const torch::NoGradGuard no_grad;
  auto generator = in_double.generator("points");
  const Tensor z = normal({4, 16}, torch::kFloat64, generator);
  EnergyEvaluateOptions options;
  options.nodes = 6;
  EnergyAnnealOptions anneal;
  anneal.chains = 4;
  const Tensor whole = energy_log_ratio(*set.model, set.model->space().of_latent(z), 6);
  const auto tilt = make_tilt(*set.model, options, anneal);
  for (const double beta : {0.0, 0.3, 1.0})
    EXPECT_TRUE(torch::allclose(tilt->value(z, beta), beta * whole, 1e-9, 1e-9)) << beta;
  EXPECT_TRUE(torch::allclose(
      tilt->value(z + 0.1, 1),
      energy_log_ratio(*set.model, set.model->space().of_latent(z + 0.1), 6), 1e-9, 1e-9));
  anneal.path = "time";
  const std::string message = refusal([&] { make_tilt(*set.model, options, anneal); });
  EXPECT_NE(message.find("--anneal-path power"), std::string::npos) << message;
}

/// The model's file as format 1 had it.
void save_as_before(const std::string& path, const EnergyModel& model) {
  save_energy(path, model, {{"seed", 3}});
  TensorFile file = load_safetensors(path);
  auto description = nlohmann::json::parse(file.metadata.at("dre"));
  ASSERT_EQ(description["format_version"], 2);
  description["format_version"] = 1;
  description.erase("checksum");
  file.metadata["dre"] = description.dump();
  save_safetensors(path, file);
}

/// Earlier files are read, but for those whose bridge or network is no more.
TEST(EnergyImages, EarlierModelsAreReadWhereTheyCanBe) {
  const Directory directory;
  const std::string path = directory.path("m.safetensors");
  const Context context{torch::kCPU, torch::kFloat32, 1};
  EnergyOptions near_data = tiny("velocity");
  near_data.least_angle = 0.001;
  for (const auto& [options, readable] : {std::pair(tiny("velocity"), true),
                                          {tiny("nce", "images"), true},
                                          {near_data, false},
                                          {tiny("velocity", "images"), false}}) {
    SCOPED_TRACE(text(options.objective, ", ", options.bridge, ", ", options.least_angle));
    save_as_before(path, *EnergySet(options, context).model);
    EXPECT_EQ(read_energy_record(path)["seed"], 3);
    if (readable) {
      EXPECT_NO_THROW(load_energy(path));
      continue;
    }
    const std::string message = refusal([&] { load_energy(path); }, Error::Kind::data);
    EXPECT_NE(message.find("fit it again"), std::string::npos) << message;
  }
}

TEST(EnergyImages, ACheckpointOfAnotherNetworkIsRefused) {
  EnergySet set(tiny("velocity", "images"), {torch::kCPU, torch::kFloat32, 1});
  EnergyFitCalls calls;
  NamedTensors state;
  calls.save = [&](const NamedTensors& saved) { state = saved; };
  StopAfter stop(1);
  fit_energy(*set.model, {set.train, set.validation}, few_steps(12), stop, calls);
  ASSERT_FALSE(state.empty());
  EnergyOptions wider = tiny("velocity", "images");
  wider.width = 8;
  EnergySet other(wider, {torch::kCPU, torch::kFloat32, 1});
  EnergyFitCalls resume;
  resume.resume = state;
  Progress silent;
  const auto go_on = [&] {
    fit_energy(*other.model, {other.train, other.validation}, few_steps(12), silent, resume);
  };
  const std::string message = refusal(go_on, Error::Kind::data);
  EXPECT_NE(message.find("checkpoint"), std::string::npos) << message;
}

TEST(EnergyImages, RefusesBridgesItCannotMake) {
  const Context context{torch::kCPU, torch::kFloat32, 1};
  const Tensor train = pictures(900, 20, 1);
  const DensityPtr noise = gaussian_noise(train, 1, context),
                   frame = gaussian_noise(train, 1, context);
  for (const char* objective : {"time", "joint", "conditional"})
    EXPECT_THROW(EnergyModel(noise, tiny(objective, "images"), context, frame), Error) << objective;
  EXPECT_THROW(EnergyModel(noise, tiny("velocity", "images"), context), Error);
  EXPECT_THROW(EnergyModel(noise, tiny("velocity"), context, frame), Error);
  EXPECT_THROW(EnergyModel(nullptr, tiny("velocity"), context), Error);
  EXPECT_THROW(EnergyModel(noise, tiny("velocity", "images"), context,
                           gaussian_noise(pictures(200, 4, 1), 1, context)),
               Error);
}

}  // namespace
}  // namespace dre
