#include "dre/train/flow_trainer.h"

#include <gtest/gtest.h>

#include <cmath>

#include "dre/base/error.h"
#include "dre/data/mnist.h"
#include "tests/support/training.h"

namespace dre {
namespace {

using Status = TrainResult::Status;

const Context context{torch::kCPU, torch::kFloat32, 9};

TrainOptions short_run(int64_t steps) {
  TrainOptions options;
  options.steps = steps;
  options.batch = 64;
  options.rate = 1e-2;
  options.warmup = 5;
  options.evaluate_every = 25;
  options.patience = 0;
  return options;
}

constexpr double spread = 0.5, correlation = 0.8;

/// Two log-normal columns that depend on each other: a Gaussian copula with margins far from
/// Gaussian.
Tensor log_normal_rows(int64_t n, const char* stream) {
  auto generator = context.generator(stream);
  const Tensor g = normal({n, 2}, torch::kFloat64, generator);
  const Tensor second =
      correlation * g.select(1, 0) + std::sqrt(1 - correlation * correlation) * g.select(1, 1);
  return (spread * torch::stack({g.select(1, 0), second}, 1)).exp();
}

/// Their entropy in bits per dimension.
double log_normal_bits() {
  const double nats = std::log(2 * M_PI * M_E) + 2 * std::log(spread) +
                      0.5 * std::log(1 - correlation * correlation);
  return nats / (2 * std::log(2.0));
}

FlowData log_normal_data() {
  return {log_normal_rows(4000, "train"), log_normal_rows(1000, "held out")};
}

/// Images of 4 x 4 pixels, bright to the left or to the right.
Tensor small_images(int64_t n, const char* stream) {
  auto generator = context.generator(stream);
  const Tensor side = uniform({n, 1, 1}, torch::kFloat64, generator).round();
  const Tensor ramp = torch::linspace(0, 1, 4, torch::kFloat64).expand({1, 4, 4});
  const Tensor light = (side * ramp + (1 - side) * (1 - ramp)).flatten(1);
  const Tensor grain = uniform({n, 16}, torch::kFloat64, generator);
  return (200 * light + 50 * grain).to(torch::kUInt8);
}

FlowOptions small_flow(int64_t dimension) {
  FlowOptions options;
  options.dimension = dimension;
  options.copula_bins = 16;
  options.height = 4;
  options.levels = 1;
  options.steps = 2;
  options.channels = 8;
  return options;
}

/// A flow under training.
struct Job {
  Job(const std::string& recipe, const FlowData& data, const TrainOptions& options,
      bool start = true)
      : flow(recipe, small_flow(data.train.size(1)), context) {
    if (start) start_flow(flow, data, context);
    trainer = std::make_unique<FlowTrainer>(flow, data, options, context);
  }

  Flow flow;
  std::unique_ptr<FlowTrainer> trainer;
};

/// From the identity to the entropy of the rows.
TEST(FlowTrainer, LearnsMarginsAndDependence) {
  Progress silent;
  Job job("copula", log_normal_data(), short_run(500), /*start=*/false);
  const TrainResult result = job.trainer->run(silent);
  EXPECT_EQ(result.status, Status::finished);
  EXPECT_GT(result.curve.front().held_out, log_normal_bits() + 0.3);
  EXPECT_NEAR(result.best_loss, log_normal_bits(), 0.1);
  auto generator = context.generator("unused");
  const Tensor held_out = log_normal_data().held_out.to(torch::kFloat32);
  EXPECT_NEAR(flow_bits(job.flow, held_out, generator).mean().item<double>(), result.best_loss,
              1e-9);
}

TEST(FlowTrainer, CopulasStartNearTheEntropyAlready) {
  const Job job("copula", log_normal_data(), short_run(1));
  auto generator = context.generator("unused");
  const Tensor rows = log_normal_data().held_out.to(torch::kFloat32);
  EXPECT_NEAR(flow_bits(job.flow, rows, generator).mean().item<double>(), log_normal_bits(), 0.08);
}

/// More rows than a start looks at, in the order of the first column.
TEST(FlowTrainer, TheOrderOfATableDoesNotSpoilTheStart) {
  FlowData data = log_normal_data();
  const Tensor rows = log_normal_rows(60000, "sorted");
  data.train = rows.index_select(0, rows.select(1, 0).argsort());
  const Job job("copula", data, short_run(1));
  auto generator = context.generator("unused");
  const Tensor held_out = data.held_out.to(torch::kFloat32);
  EXPECT_NEAR(flow_bits(job.flow, held_out, generator).mean().item<double>(), log_normal_bits(),
              0.08);
}

TEST(FlowTrainer, SplineFlowsLearnPixels) {
  Progress silent;
  const FlowData data{small_images(2000, "train"), small_images(500, "held out")};
  Job job("rq-nsf", data, short_run(75));
  const TrainResult result = job.trainer->run(silent);
  EXPECT_LT(result.best_loss, result.curve.front().held_out - 0.3);
  EXPECT_GT(result.best_loss, std::log2(50.0) * 0.95);  // grain of fifty levels a pixel
}

/// Stops when told to, at the next look.
class StopAt final : public Progress {
 public:
  explicit StopAt(int64_t step) : step_(step) {}
  void begin(const std::string& stage, int64_t) override { training_ = stage != "judging"; }
  void advance(int64_t done, const std::string&) override {
    if (training_) done_ = done;
  }
  bool stop_requested() override { return done_ >= step_; }

 private:
  int64_t step_, done_ = 0;
  bool training_ = false;
};

TEST(FlowTrainer, ResumedRunsEndInTheSameBytes) {
  const FlowData pixels{small_images(500, "train"), small_images(100, "held out")};
  for (const auto& [recipe, data] :
       {std::pair<std::string, FlowData>{"copula", log_normal_data()}, {"rq-nsf", pixels}}) {
    Progress silent;
    Job whole(recipe, data, short_run(50)), first(recipe, data, short_run(50)),
        second(recipe, data, short_run(50), false);
    const TrainResult expected = whole.trainer->run(silent);
    StopAt stop(30);  // between two looks
    const TrainResult part = first.trainer->run(stop);
    EXPECT_EQ(part.status, Status::interrupted);
    EXPECT_EQ(part.steps, 30);
    second.trainer->restore(first.trainer->state());
    testing::expect_same(second.trainer->run(silent), expected, recipe);
    EXPECT_TRUE(torch::equal(second.flow.parameters().flat(), whole.flow.parameters().flat()));
    for (const auto& [name, tensor] : whole.flow.tensors())
      EXPECT_TRUE(torch::equal(tensor, at(second.flow.tensors(), name))) << name;
  }
}

TEST(FlowTrainer, MixedDataAreRefused) {
  const FlowData data{small_images(50, "train"), torch::zeros({5, 16})};
  Flow flow("copula", small_flow(16), context);
  EXPECT_THROW(FlowTrainer(flow, data, short_run(5), context), Error);
  EXPECT_THROW(flow_train_options("gaussian"), Error);
}

TEST(FlowBits, BlocksDoNotMatter) {
  Job job("copula", log_normal_data(), short_run(5));
  auto generator = context.generator("unused");
  const Tensor x = log_normal_rows(100, "rows").to(torch::kFloat32);
  EXPECT_TRUE(torch::allclose(flow_bits(job.flow, x, generator, 7),
                              flow_bits(job.flow, x, generator, 100), 1e-6, 1e-6));
}

TEST(FlowBits, AStopLeavesTheRowsUntilThen) {
  Job job("copula", log_normal_data(), short_run(5));
  auto generator = context.generator("unused");
  const Tensor x = log_normal_rows(500, "rows").to(torch::kFloat32);
  class : public Progress {
    void advance(int64_t done, const std::string&) override { done_ = done; }
    bool stop_requested() override { return done_ >= 300; }
    int64_t done_ = 0;
  } stop;
  EXPECT_TRUE(torch::allclose(flow_bits(job.flow, x, generator, stop),
                              flow_bits(job.flow, x, generator).slice(0, 0, 400)));
}

}  // namespace
}  // namespace dre
