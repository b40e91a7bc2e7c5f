#include "dre/apps/fit.h"

#include <gtest/gtest.h>

#include "tests/apps/numeric_sides.h"
#include "tests/data/files.h"

namespace dre::testing {
namespace {

TEST(Fit, FewRowsAreRefusedOnlyByMethodsThatAskForMoreByName) {
  auto generator = stream("few rows");
  const Sides sides = numeric_sides(rows(20, 2, 1, generator), rows(20, 2, 0, generator));
  FitOptions options;
  options.train.steps = 2;
  Progress silent;
  const auto fitted = [&](const std::string& method) {
    options.method = method;
    return fit(sides.numerator, sides.denominator, sides.names, options, silent);
  };
  for (const auto& method : fit_method_names()) {
    if (method.starts_with("which-time"))
      expect_contains(message_of([&] { fitted(method); }, Error::Kind::data),
                      {method, "needs 11 held-out rows, but only 4", "--method"});
    else
      EXPECT_EQ(fitted(method).members.size(), 1) << method;
  }
}

/// Two bumps against one of about their mean and variance: the Gaussian reference sees nothing. On
/// few rows the loss along the bridge is too noisy to prove the network, but the rows themselves
/// are told apart.
TEST(Fit, NetworksAreKeptThatTellTheSidesApart) {
  auto generator = stream("bumps");
  const int64_t n = 700;
  Tensor bumps = rows(n, 2, 0, generator), single = rows(n, 2, 0, generator);
  const Tensor side = torch::arange(n) % 2 * 3 - 1.5;
  bumps.select(1, 0).mul_(0.5).add_(side);
  single.select(1, 0).mul_(1.6);
  const Sides sides = numeric_sides(bumps, single);
  FitOptions options;
  options.method = "which-time";
  options.train.steps = 300;
  options.train.evaluate_every = 20;
  Progress silent;
  const FitResult result = fit(sides.numerator, sides.denominator, sides.names, options, silent);
  const TrainResult& training = result.members.front().training;
  EXPECT_LT(training.gain.value, options.guard * training.gain.standard_error);
  EXPECT_TRUE(result.members.front().kept);
  // KL is 0.46 nats.
  EXPECT_GT(result.estimator.log_ratio(bumps).log_ratio.mean().item<double>(), 0.25);
}

/// Programs that only rate rows switch gradients off around everything.
TEST(Fit, TheCallersGradientModeDoesNotMatter) {
  auto generator = stream("gradient mode");
  const Sides sides = numeric_sides(rows(200, 2, 1, generator), rows(200, 2, 0, generator));
  FitOptions options;
  options.train.steps = 5;
  Progress silent;
  const auto fitted = [&] {
    return fit(sides.numerator, sides.denominator, sides.names, options, silent)
        .estimator.log_ratio(sides.numerator.x)
        .log_ratio;
  };
  const Tensor expected = fitted();
  {
    const torch::NoGradGuard no_grad;
    EXPECT_TRUE(fitted().equal(expected));
    EXPECT_FALSE(torch::GradMode::is_enabled());
  }
  const c10::InferenceMode inference;
  expect_contains(message_of([&] { fitted(); }, Error::Kind::usage),
                  {"InferenceMode", "NoGradGuard"});
}

TEST(Fit, GoesOnFromTheStateOfAFitOnly) {
  auto generator = stream("foreign state");
  const Sides sides = numeric_sides(rows(100, 2, 1, generator), rows(100, 2, 0, generator));
  FitOptions options;
  options.train.steps = 3;
  Progress silent;
  NamedTensors state;
  const auto go_on = [&](const NamedTensors& from) {
    Checkpointing checkpointing;
    checkpointing.save = [&](const NamedTensors& saved) { state = saved; };
    checkpointing.resume = from;
    fit(sides.numerator, sides.denominator, sides.names, options, silent, checkpointing);
  };
  expect_contains(message_of(
                      [&] {
                        go_on({{"foo", torch::zeros({3})}});
                      },
                      Error::Kind::data),
                  {"not the state of a fit"});
  NamedTensors other = {{"member0.weights", torch::zeros({3})}};
  expect_contains(message_of([&] { go_on(other); }, Error::Kind::data),
                  {"a network of 3 weights", "other settings"});
}

TEST(Fit, SettingsThatCannotWorkAreRefused) {
  auto generator = stream("settings");
  const Sides sides = numeric_sides(rows(100, 2, 1, generator), rows(100, 2, 0, generator));
  Progress silent;
  const auto refused = [&](const FitOptions& options, Error::Kind kind) {
    return message_of(
        [&] { fit(sides.numerator, sides.denominator, sides.names, options, silent); }, kind);
  };
  FitOptions few;
  few.held_out = 0.001;
  expect_contains(refused(few, Error::Kind::data), {"held out", "--held-out"});
  // Rows of weight 0 judge nothing.
  Tensor weight = torch::zeros({100}, torch::kFloat64);
  weight.slice(0, 0, 20) = 1;
  FitOptions light;
  light.held_out = 0.05;
  const Samples weighted = make_samples(sides.numerator.x, weight);
  expect_contains(message_of([&] { fit(weighted, sides.denominator, sides.names, light, silent); }),
                  {"rows that count", "--held-out"});
  FitOptions clipped;
  clipped.method = "time";
  clipped.objective.matching = "boundary";
  clipped.times.clip = 0.1;
  expect_contains(refused(clipped, Error::Kind::usage), {"--time-clip", "--matching"});
}

}  // namespace
}  // namespace dre::testing
