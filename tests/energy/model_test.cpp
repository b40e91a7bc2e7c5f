#include "dre/energy/model.h"

#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <cmath>

#include "dre/base/error.h"
#include "dre/objective/make_objective.h"
#include "dre/score/classifiers.h"
#include "tests/data/files.h"
#include "tests/density/examples.h"
#include "tests/energy/energy_set.h"
#include "tests/network/plain_unets.h"

namespace dre {
namespace {

using namespace dre::testing;

class EnergyModelOn : public OnBothBridges {};

INSTANTIATE_TEST_SUITE_P(All, EnergyModelOn, ::testing::Values("latent", "images"),
                         [](const auto& info) { return std::string(info.param); });

/// Classifiers that see pixels: the slope of their log-ratio, which drives annealing, follows the
/// view; and a step moves all weights, those of the view's channel included.
TEST(EnergyModels, ClassifiersSeePixels) {
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

TEST(EnergyModels, WaymarksHaveEqualSharesOfTheAngles) {
  EnergyOptions options = tiny("tre");
  options.waymarks = "angles";
  const EnergyModel model(gaussian_example(400), options, {torch::kCPU, torch::kFloat64, 3});
  const auto& score = dynamic_cast<const TelescopeScore&>(model.score());
  const AngleDensity& angles = model.angles();
  ASSERT_EQ(score.times().size(0), 4);
  const std::vector<double> expected = {0, angles.at(1.0 / 3).t, angles.at(2.0 / 3).t, 1};
  for (int64_t k = 0; k < 4; ++k) EXPECT_NEAR(score.times()[k].item<double>(), expected[k], 1e-12);
}

/// The paper's joint objective on its U-Net, written with plain operations: the slope of the time
/// score along the path by double backward, dx/dtheta = -sin x0 + cos eps.
TEST(EnergyModels, JointLossMatchesDoubleBackward) {
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

TEST_P(EnergyModelOn, SavedModelsSayTheSame) {
  const Directory directory;
  EnergySet set = make_set();
  set.move_weights();
  set.model->correction = {0.5, 0.25};
  save_energy(directory.path("m.safetensors"), *set.model, {{"seed", 3}});
  const EnergyFile file = load_energy(directory.path("m.safetensors"), set.context);
  const torch::NoGradGuard no_grad;
  const Tensor z = set.latent(5);
  EXPECT_TRUE(
      torch::equal(energy_log_ratio(*file.model, z, 6), energy_log_ratio(*set.model, z, 6)));
  EXPECT_EQ(file.model->correction.standard_error, 0.25);
  EXPECT_EQ(file.record["seed"], 3);
  EXPECT_EQ(file.model->space().between_images(), set.model->space().between_images());
  directory.write("bad.safetensors", "not a model");
  EXPECT_THROW(load_energy(directory.path("bad.safetensors")), Error);
}

}  // namespace
}  // namespace dre
