/// How training ends and what it keeps, on a problem of one weight.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "dre/train/trainer.h"
#include "tests/support/gaussian_pair.h"
#include "tests/support/training.h"

namespace dre {
namespace {

using Status = TrainResult::Status;
using testing::expect_same;
using testing::Recorder;

/// (w - x0)^2 of one weight, as the mean of what a batch holds; `limit` turns it into NaN.
class OneWeight final : public Objective {
 public:
  explicit OneWeight(double limit = std::numeric_limits<double>::infinity()) : limit_(limit) {
    weight_ = parameters.add("w", torch::zeros({1}, torch::kFloat64));
  }
  Terms terms(const Batch& batch, const Tensor&, at::Generator&) const override {
    const bool broken = weight_.item<double>() > limit_;
    const double factor = broken ? std::numeric_limits<double>::quiet_NaN() : 1;
    return {{}, factor * (weight_ - batch.x0.squeeze(1)).square()};
  }
  Interval interval() const override { return {}; }
  double weight() const { return weight_.item<double>(); }

  Parameters parameters;

 private:
  Tensor weight_;
  double limit_;
};

Samples constant_rows(double value) { return {torch::full({20, 1}, value, torch::kFloat64), {}}; }

/// Training pulls the weight to 1, the held-out rows stand at `best`.
TrainResult pull(OneWeight& objective, const TrainOptions& options, double best,
                 const std::function<void(Trainer&)>& before = {}) {
  const Samples train = constant_rows(1), judge = constant_rows(best);
  const auto times = make_time_sampler({});
  Trainer trainer(objective, objective.parameters, *times, {train, train, judge, judge}, options,
                  testing::double_context());
  if (before) before(trainer);
  Progress silent;
  return trainer.run(silent);
}

TrainOptions pull_options() {
  TrainOptions options;
  options.schedule = "constant";
  options.warmup = 0;
  options.rate = 0.02;
  options.batch = 10;
  options.steps = 400;
  options.evaluate_every = 5;
  options.patience = 40;
  options.average = 0.8;
  return options;
}

TEST(Trainer, StopsEarlyAndKeepsTheBestAverage) {
  OneWeight objective;
  const TrainResult result = pull(objective, pull_options(), 0.5);
  EXPECT_EQ(result.status, Status::early);
  EXPECT_EQ(result.steps, result.best_step + 40);
  EXPECT_NEAR(objective.weight(), 0.5, 0.06);  // half of what five steps move
  EXPECT_DOUBLE_EQ(std::pow(objective.weight() - 0.5, 2), result.best_loss);
  for (const auto& point : result.curve) {
    EXPECT_GE(point.held_out, result.best_loss);
    EXPECT_EQ(point.step == result.best_step, point.held_out == result.best_loss);
  }
}

/// Where every step makes the held-out loss worse, the start is the best.
TEST(Trainer, StepZeroTakesPart) {
  OneWeight objective;
  const TrainResult result = pull(objective, pull_options(), -0.1);
  EXPECT_EQ(result.status, Status::early);
  EXPECT_EQ(result.best_step, 0);
  EXPECT_EQ(objective.weight(), 0);
}

TEST(Trainer, APatientRunNeverStopsEarly) {
  OneWeight objective;
  TrainOptions options = pull_options();
  options.patience = 0;
  const TrainResult result = pull(objective, options, 0.5);
  EXPECT_EQ(result.status, Status::finished);
  EXPECT_EQ(result.steps, 400);
  EXPECT_NEAR(objective.weight(), 0.5, 0.06);
}

TEST(Trainer, ARunThatWasOverStaysOver) {
  OneWeight first;
  const Samples train = constant_rows(1), judge = constant_rows(0.5);
  const auto times = make_time_sampler({});
  Trainer trainer(first, first.parameters, *times, {train, train, judge, judge}, pull_options(),
                  testing::double_context());
  Recorder recorder(trainer);
  const TrainResult expected = trainer.run(recorder);
  OneWeight second;
  const TrainResult again =
      pull(second, pull_options(), 0.5, [&](Trainer& t) { t.restore(recorder.states.back()); });
  expect_same(again, expected, "restored at the end");
  EXPECT_EQ(first.weight(), second.weight());
}

TEST(Trainer, ALossThatIsNotFiniteEndsTheRunAndKeepsTheBest) {
  for (const int64_t patience : {0, 5, 40}) {
    OneWeight objective(0.7);
    TrainOptions options = pull_options();
    options.patience = patience;
    const TrainResult result = pull(objective, options, 0.9);
    EXPECT_EQ(result.status, Status::not_finite) << patience;
    EXPECT_TRUE(std::isnan(result.curve.back().held_out));
    EXPECT_LT(result.steps, 100);
    EXPECT_GT(objective.weight(), 0.3);
    EXPECT_LE(objective.weight(), 0.7);
    EXPECT_DOUBLE_EQ(std::pow(objective.weight() - 0.9, 2), result.best_loss);
  }
}

/// The look that finds the loss broken may also be the one at which patience ends.
TEST(Trainer, NotFiniteIsNotMistakenForEarly) {
  OneWeight objective(0.01);
  TrainOptions options = pull_options();
  options.patience = options.evaluate_every;
  EXPECT_EQ(pull(objective, options, 0.9).status, Status::not_finite);
  EXPECT_EQ(objective.weight(), 0);
}

TEST(Trainer, ALossBrokenFromTheStartIsToldAtOnce) {
  OneWeight objective(-1);
  const TrainResult result = pull(objective, pull_options(), 0.5);
  EXPECT_EQ(result.status, Status::not_finite);
  EXPECT_EQ(result.steps, 0);
  EXPECT_EQ(objective.weight(), 0);
}

}  // namespace
}  // namespace dre
