#include "dre/train/trainer.h"

#include <gtest/gtest.h>

#include <cmath>

#include "dre/objective/make_objective.h"
#include "dre/score/make_score.h"
#include "tests/support/gaussian_pair.h"
#include "tests/support/training.h"

namespace dre {
namespace {

using Status = TrainResult::Status;
using testing::expect_same;
using testing::gaussian_ends;
using testing::Recorder;

Samples rows_of(const Tensor& x) { return {x, {}}; }

/// Rows of both Gaussians, `n` to learn from and `held_out` to judge by.
TrainData gaussian_data(int64_t d, int64_t n, int64_t held_out) {
  auto generator = testing::double_context(5).generator("data");
  const Batch train = testing::draw_batch(gaussian_ends(d), n, generator);
  const Batch judge = testing::draw_batch(gaussian_ends(d), held_out, generator);
  return {rows_of(train.x0), rows_of(train.x1), rows_of(judge.x0), rows_of(judge.x1)};
}

struct Settings {
  std::string method = "time";
  std::string times = "stratified";
  bool with_reference = false;
  uint64_t seed = 3;
  TrainOptions train = {};

  Settings() {
    train.steps = 47;
    train.batch = 32;
    train.warmup = 5;
    train.rate = 3e-3;
    train.evaluate_every = 10;
    train.patience = 0;
  }
};

/// A small score under training and everything that it refers to.
class TrainerJob {
 public:
  explicit TrainerJob(const Settings& settings, const TrainData& data = gaussian_data(2, 300, 100))
      : context_{torch::kCPU, torch::kFloat32, settings.seed},
        bridge_(make_bridge("trigonometric")),
        score_(make_score(settings.method, small(), bridge_, reference(settings), 2, context_)),
        objective_(make_objective(settings.method, *score_, bridge_,
                                  second_moments(gaussian_ends(2)), {})),
        times_(make_times(settings.times)),
        trainer(*objective_, parameters(), *times_, data, settings.train, context_) {}

  Parameters& parameters() { return score_->network().parameters(); }
  Tensor weights() { return parameters().flat().detach().clone(); }
  const Score& score() const { return *score_; }

 private:
  static ScoreOptions small() {
    ScoreOptions options;
    options.width = 8;
    options.depth = 1;
    return options;
  }

  ReferencePtr reference(const Settings& settings) const {
    if (!settings.with_reference) return nullptr;
    return std::make_shared<const GaussianPath>(bridge_, gaussian_ends(2));
  }

  static std::unique_ptr<TimeSampler> make_times(const std::string& name) {
    TimeOptions options;
    options.times = name;
    options.history = 3;  // learned before the first look
    const Tensor density = torch::linspace(1, 2, 9, torch::kFloat64);
    return make_time_sampler(options, name == "tabulated" ? density : Tensor());
  }

  Context context_;
  BridgePtr bridge_;
  ScorePtr score_;
  std::unique_ptr<Objective> objective_;
  std::unique_ptr<TimeSampler> times_;

 public:
  Trainer trainer;
};

/// Asks for a stop at the given look at the losses.
class StopAtLook final : public Progress {
 public:
  explicit StopAtLook(int64_t look) : look_(look) {}
  bool stop_requested() override { return ++looks_ >= look_; }

 private:
  int64_t look_, looks_ = 0;
};

TEST(Trainer, TheSeedDecidesEveryByte) {
  for (const auto& method : {"time", "which-time", "nce"}) {
    Settings settings;
    settings.method = method;
    Progress silent;
    TrainerJob first(settings), second(settings);
    expect_same(first.trainer.run(silent), second.trainer.run(silent), method);
    EXPECT_TRUE(torch::equal(first.weights(), second.weights())) << method;
    settings.seed = 4;
    TrainerJob other(settings);
    other.trainer.run(silent);
    EXPECT_FALSE(torch::equal(first.weights(), other.weights())) << method;
  }
}

TEST(Trainer, LossFallsAndTheCurveSaysSo) {
  Settings settings;
  settings.method = "nce";
  settings.train.steps = 200;
  Progress silent;
  TrainerJob job(settings);
  const TrainResult result = job.trainer.run(silent);
  EXPECT_EQ(result.status, Status::finished);
  EXPECT_EQ(result.steps, 200);
  ASSERT_EQ(result.curve.size(), 21u);
  EXPECT_TRUE(std::isnan(result.curve.front().train));
  EXPECT_NEAR(result.curve.front().held_out, 2 * std::log(2), 1e-6);  // a network of zeros
  EXPECT_LT(result.curve.back().train, result.curve[1].train);
  EXPECT_LT(result.best_loss, result.curve.front().held_out - 0.05);
}

/// Every look is a place to go on from, also the one where the run ended.
TEST(Trainer, ContinuesFromAnyLookToTheSameBytes) {
  for (const auto& times : time_sampler_names()) {
    Settings settings;
    settings.times = times;
    TrainerJob whole(settings);
    Recorder recorder(whole.trainer);
    const TrainResult expected = whole.trainer.run(recorder);
    ASSERT_EQ(recorder.states.size(), 5u);
    for (size_t look = 0; look < recorder.states.size(); ++look) {
      const std::string label = times + ", look " + std::to_string(look);
      TrainerJob resumed(settings);
      resumed.trainer.restore(recorder.states[look]);
      Progress silent;
      expect_same(resumed.trainer.run(silent), expected, label);
      EXPECT_TRUE(torch::equal(resumed.weights(), whole.weights())) << label;
    }
  }
}

TEST(Trainer, InterruptedRunsGoOnToTheSameBytes) {
  Settings settings;
  settings.times = "history";
  Progress silent;
  TrainerJob whole(settings);
  const TrainResult expected = whole.trainer.run(silent);
  for (const int64_t look : {1, 2, 4}) {
    TrainerJob stopped(settings);
    StopAtLook stop(look);
    const TrainResult part = stopped.trainer.run(stop);
    EXPECT_EQ(part.status, Status::interrupted);
    EXPECT_EQ(part.steps, 10 * look);
    TrainerJob resumed(settings);
    resumed.trainer.restore(stopped.trainer.state());
    expect_same(resumed.trainer.run(silent), expected, "another trainer");
    EXPECT_TRUE(torch::equal(resumed.weights(), whole.weights()));
    expect_same(stopped.trainer.run(silent), expected, "the same trainer");
    EXPECT_TRUE(torch::equal(stopped.weights(), whole.weights()));
  }
}

TEST(Trainer, AStopAtTheLastStepComesTooLate) {
  Settings settings;
  Progress silent;
  StopAtLook last(5);
  TrainerJob whole(settings), stopped(settings);
  expect_same(stopped.trainer.run(last), whole.trainer.run(silent), "last look");
  EXPECT_TRUE(torch::equal(stopped.weights(), whole.weights()));
}

TEST(Trainer, NoStepsKeepTheStart) {
  Settings settings;
  settings.train.steps = 0;
  Progress silent;
  TrainerJob job(settings);
  const Tensor start = job.weights();
  const TrainResult result = job.trainer.run(silent);
  EXPECT_EQ(result.status, Status::finished);
  EXPECT_EQ(result.steps, 0);
  ASSERT_EQ(result.curve.size(), 1u);
  EXPECT_EQ(result.best_loss, result.curve.front().held_out);
  EXPECT_TRUE(torch::equal(job.weights(), start));
}

/// On top of the exact reference there is nothing to learn but noise.
TEST(Trainer, AnExactModelStaysCloseToItself) {
  Settings settings;
  settings.method = "which-time";
  settings.with_reference = true;
  settings.train.steps = 150;
  settings.train.batch = 128;
  Progress silent;
  TrainerJob job(settings, gaussian_data(2, 1000, 2000));
  const TrainResult result = job.trainer.run(silent);
  EXPECT_LE(result.best_loss, result.curve.front().held_out);
  const Tensor x = testing::draw_points(500, 2).x.to(torch::kFloat32);
  const torch::NoGradGuard no_grad;
  const Tensor residual = ability<DirectRatio>(job.score())->ratio_residual(x);
  EXPECT_LT(residual.square().mean().sqrt().item<double>(), 0.15);
}

/// Held-out rows are judged in pieces, and which-time deals the rows of a piece out to its times.
TEST(Trainer, AnyNumberOfHeldOutRowsCanBeJudged) {
  Settings settings;
  settings.method = "which-time";
  settings.with_reference = true;
  settings.train.steps = 0;
  Progress silent;
  for (const int64_t rows : {4096, 4097, 4607, 4608, 8193}) {
    SCOPED_TRACE(rows);
    TrainerJob job(settings, gaussian_data(2, 100, rows));
    EXPECT_TRUE(std::isfinite(job.trainer.run(silent).best_loss));
  }
}

/// Weights stand for repeated rows. The other side has as many rows as the repetitions, so both
/// forms are judged on the very same batch, in the same order.
TEST(Trainer, WeightsCountAsRepeatedRowsInTheHeldOutLoss) {
  Settings settings;
  settings.with_reference = true;  // a network of zeros alone has no loss
  settings.train.steps = 0;
  TrainData repeated = gaussian_data(2, 100, 90);
  TrainData weighted = repeated;
  const Tensor rows = repeated.held_out_numerator.x.slice(0, 0, 45);
  const Tensor copies = torch::ones({45}, torch::kInt64);
  copies.slice(0, 0, 45, 3).fill_(3);
  copies.slice(0, 1, 45, 3).fill_(2);
  repeated.held_out_numerator = make_samples(rows.repeat_interleave(copies, 0));
  weighted.held_out_numerator = make_samples(rows, copies);
  ASSERT_EQ(repeated.held_out_numerator.rows(), 90);
  Progress silent;
  const auto loss = [&](const TrainData& data) {
    return TrainerJob(settings, data).trainer.run(silent).best_loss;
  };
  EXPECT_EQ(loss(weighted), loss(repeated));
  TrainData unweighted = weighted;
  unweighted.held_out_numerator = make_samples(rows);
  EXPECT_NE(loss(unweighted), loss(repeated));
}

/// Training rows of weight w are met w times as often: the loss of a network of zeros weighs its
/// rows alike, so weighted and repeated rows must give the same mean gradient.
TEST(Trainer, WeightsCountAsRepeatedRowsInTheBatches) {
  const Tensor x = torch::arange(40, torch::kFloat64).unsqueeze(1);
  const Tensor copies = 1 + torch::arange(40, torch::kInt64).remainder(3);
  const auto mean_row = [](const Samples& samples) {
    Batches batches(samples, 40, testing::double_context().generator("batches"));
    Tensor total = torch::zeros({1}, torch::kFloat64);
    for (int i = 0; i < 100; ++i) total += batches.next().mean(0);
    return total.item<double>() / 100;
  };
  const double exact = (copies * x.squeeze(1)).sum().item<double>() / copies.sum().item<double>();
  // A systematic resample misses the expected count of a row by less than one, so an epoch's mean
  // misses by less than the range of x over 40 rows; 100 epochs share out what is left.
  EXPECT_NEAR(mean_row(make_samples(x, copies)), exact, 0.05);
  EXPECT_NEAR(mean_row(make_samples(x.repeat_interleave(copies, 0))), exact, 0.5);
}

}  // namespace
}  // namespace dre
