#include "dre/train/adam.h"

#include <gtest/gtest.h>

#include <cmath>

namespace dre {
namespace {

/// A schedule that leaves the rate alone, and no clipping.
TrainOptions plain_options() {
  TrainOptions options;
  options.schedule = "constant";
  options.warmup = 0;
  options.clip = 0;
  options.rate = 0.05;
  return options;
}

Tensor vector_of(const std::vector<double>& values) {
  return torch::tensor(values, torch::kFloat64);
}

/// The textbook formulas for one number.
struct ScalarAdam {
  TrainOptions options;
  double weight, mean = 0, square = 0;
  int count = 0;

  void step(double gradient) {
    ++count;
    const bool decoupled = options.optimizer == "adamw";
    if (decoupled) weight -= options.rate * options.weight_decay * weight;
    if (!decoupled) gradient += options.weight_decay * weight;
    mean = options.beta1 * mean + (1 - options.beta1) * gradient;
    square = options.beta2 * square + (1 - options.beta2) * gradient * gradient;
    const double m = mean / (1 - std::pow(options.beta1, count));
    const double v = square / (1 - std::pow(options.beta2, count));
    weight -= options.rate * m / (std::sqrt(v) + 1e-8);
  }
};

TEST(Adam, FollowsTheTextbookForFiveSteps) {
  for (const char* optimizer : {"adam", "adamw"})
    for (const double decay : {0.0, 0.3}) {
      TrainOptions options = plain_options();
      options.optimizer = optimizer;
      options.weight_decay = decay;
      Tensor weights = vector_of({1.5, -0.4});
      Adam adam(options, weights);
      std::vector<ScalarAdam> expected = {{options, 1.5}, {options, -0.4}};
      for (int i = 0; i < 5; ++i) {
        const std::vector<double> values = {std::cos(1.0 + i), 3 * std::sin(2.0 * i + 1)};
        Tensor gradient = vector_of(values);
        adam.step(weights, gradient);
        for (int k = 0; k < 2; ++k) {
          expected[k].step(values[k]);
          EXPECT_NEAR(weights[k].item<double>(), expected[k].weight, 1e-14) << optimizer << decay;
        }
      }
    }
}

TEST(Adam, LongGradientsAreClippedAndShortOnesAreNot) {
  TrainOptions options = plain_options();
  options.clip = 2;
  Tensor weights = vector_of({0, 0});
  Adam adam(options, weights);
  Tensor long_one = vector_of({6, 8}), short_one = vector_of({0.6, 0.8});
  adam.step(weights, long_one);
  adam.step(weights, short_one);
  EXPECT_TRUE(torch::allclose(long_one, vector_of({1.2, 1.6}), 1e-11));
  EXPECT_TRUE(torch::equal(short_one, vector_of({0.6, 0.8})));
}

TEST(Adam, AverageForgetsTheStartFirstAndThenMovesSlowly) {
  TrainOptions options = plain_options();
  options.average = 0.5;
  Tensor weights = vector_of({1});
  Adam adam(options, weights);
  double expected = 1;
  for (int i = 1; i <= 20; ++i) {
    Tensor gradient = vector_of({std::cos(i)});
    adam.step(weights, gradient);
    const double decay = std::min(0.5, i / (i + 9.0));
    expected = decay * expected + (1 - decay) * weights.item<double>();
    EXPECT_NEAR(adam.average().item<double>(), expected, 1e-14) << i;
  }
}

TEST(Adam, StateIsASnapshotThatContinuesExactly) {
  TrainOptions options = plain_options();
  Tensor weights = vector_of({1, 2}), gradient;
  Adam adam(options, weights);
  const auto go = [&](Adam& optimizer, Tensor& at, int from, int to) {
    for (int i = from; i < to; ++i) {
      gradient = vector_of({std::cos(i), std::sin(i)});
      optimizer.step(at, gradient);
    }
  };
  go(adam, weights, 0, 3);
  const NamedTensors state = adam.state();
  Tensor other = weights.clone();
  go(adam, weights, 3, 6);
  Adam restored(options, other);
  restored.restore(state);
  go(restored, other, 3, 6);
  EXPECT_TRUE(torch::equal(weights, other));
  EXPECT_TRUE(torch::equal(adam.average(), restored.average()));
}

TEST(LearningRate, WarmsUpLinearlyAndFallsAsACosine) {
  TrainOptions options;
  options.steps = 1100;
  options.warmup = 100;
  options.rate = 2e-3;
  EXPECT_DOUBLE_EQ(learning_rate(options, 0), 2e-5);
  EXPECT_DOUBLE_EQ(learning_rate(options, 49), 1e-3);
  EXPECT_DOUBLE_EQ(learning_rate(options, 99), 2e-3);
  EXPECT_DOUBLE_EQ(learning_rate(options, 100), 2e-3);
  EXPECT_NEAR(learning_rate(options, 600), 1e-3, 1e-15);
  EXPECT_NEAR(learning_rate(options, 350), 1e-3 * (1 + std::sqrt(0.5)), 1e-15);
  EXPECT_NEAR(learning_rate(options, 1100), 0, 1e-15);
  EXPECT_NEAR(learning_rate(options, 5000), 0, 1e-15);
  for (int64_t step = 101; step <= 1100; ++step)
    EXPECT_LT(learning_rate(options, step), learning_rate(options, step - 1));
}

TEST(LearningRate, ConstantStaysAfterTheWarmUp) {
  TrainOptions options;
  options.schedule = "constant";
  EXPECT_DOUBLE_EQ(learning_rate(options, 49), options.rate / 2);
  for (const int64_t step : {100, 101, 100000})
    EXPECT_DOUBLE_EQ(learning_rate(options, step), options.rate);
}

/// A warm-up longer than the run, or none at all, is no division by zero.
TEST(LearningRate, IsFiniteAndPositiveAtOddLengths) {
  for (const int64_t steps : {1, 5, 100})
    for (const int64_t warmup : {0, 1, 100, 500}) {
      TrainOptions options;
      options.steps = steps;
      options.warmup = warmup;
      for (int64_t step = 0; step < steps; ++step) {
        EXPECT_GT(learning_rate(options, step), 0) << steps << " " << warmup << " " << step;
        EXPECT_LE(learning_rate(options, step), options.rate);
      }
    }
}

/// Planned steps, as recorded ones are, against steps by the schedule.
TEST(Adam, PlannedStepsAreTheSameSteps) {
  TrainOptions options = plain_options();
  options.optimizer = "adamw";
  options.weight_decay = 0.1;
  options.clip = 1;
  Tensor a = vector_of({1, -2, 3}), b = a.clone();
  Adam one(options, a), other(options, b);
  for (int round = 0; round < 3; ++round) {
    other.plan({options.rate, options.rate});
    for (int i = 0; i < 2; ++i) {
      Tensor gradient = vector_of({0.5 * round, 2, -1.0 - i}), same = gradient.clone();
      one.step(a, gradient);
      other.apply(b, same);
    }
  }
  EXPECT_LT((a - b).abs().max().item<double>(), 1e-12);
  EXPECT_LT((one.average() - other.average()).abs().max().item<double>(), 1e-12);
}

}  // namespace
}  // namespace dre
