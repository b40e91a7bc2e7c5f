#include "dre/train/best_so_far.h"

#include <gtest/gtest.h>

#include <limits>

#include "dre/base/error.h"
#include "tests/support/training.h"

namespace dre {
namespace {

using Status = TrainResult::Status;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

TrainOptions options_of(int64_t steps, int64_t patience) {
  TrainOptions options;
  options.steps = steps;
  options.patience = patience;
  return options;
}

Tensor weights_of(double value) { return torch::full({3}, value, torch::kFloat64); }

/// Ten steps, then a look at weights that are all `value`.
bool go_and_look(BestSoFar& best, double loss, double value) {
  for (int i = 0; i < 10; ++i) best.count_step();
  return best.look(0, loss, weights_of(value));
}

TEST(BestSoFar, KeepsTheWeightsOfTheSmallestLoss) {
  BestSoFar best(options_of(100, 0), weights_of(0));
  EXPECT_TRUE(torch::equal(best.weights(), weights_of(0)));
  EXPECT_TRUE(best.look(nan, 5, weights_of(1)));
  EXPECT_TRUE(go_and_look(best, 3, 2));
  EXPECT_FALSE(go_and_look(best, 4, 3));
  EXPECT_FALSE(go_and_look(best, 3, 4));  // as good is not better
  EXPECT_TRUE(torch::equal(best.weights(), weights_of(2)));
  EXPECT_EQ(best.result().best_loss, 3);
  EXPECT_EQ(best.result().best_step, 10);
  EXPECT_EQ(best.result().steps, 30);
  EXPECT_EQ(best.result().curve.size(), 4u);
  EXPECT_FALSE(best.over());
}

/// What a caller does with its tensor after a look, or with the start, is its own affair.
TEST(BestSoFar, KeepsWeightsOfItsOwn) {
  const Tensor start = weights_of(1), later = weights_of(2);
  BestSoFar best(options_of(100, 0), start);
  start.zero_();
  EXPECT_TRUE(torch::equal(best.weights(), weights_of(1)));
  best.look(0, 1, later);
  later.zero_();
  EXPECT_TRUE(torch::equal(best.weights(), weights_of(2)));
}

TEST(BestSoFar, PatienceCountsStepsSinceTheBestLook) {
  BestSoFar best(options_of(1000, 20), weights_of(0));
  best.look(nan, 2, weights_of(0));
  go_and_look(best, 1, 1);
  go_and_look(best, 2, 2);
  EXPECT_EQ(best.verdict(), Status::finished);
  EXPECT_FALSE(best.over());
  go_and_look(best, 2, 3);
  EXPECT_EQ(best.verdict(), Status::early);
  EXPECT_TRUE(best.over());
  best.end(/*stopped=*/false);
  EXPECT_EQ(best.result().status, Status::early);
}

TEST(BestSoFar, EndsAtTheLastStepOrWhereItIsStopped) {
  BestSoFar best(options_of(20, 0), weights_of(0));
  best.look(nan, 1, weights_of(0));
  go_and_look(best, 2, 1);
  EXPECT_FALSE(best.over());
  best.end(/*stopped=*/true);
  EXPECT_EQ(best.result().status, Status::interrupted);
  go_and_look(best, 3, 2);  // patience 0 has no end
  EXPECT_TRUE(best.over());
  best.end(/*stopped=*/false);
  EXPECT_EQ(best.result().status, Status::finished);
}

/// A broken loss wins over patience that ends at the same look, and is never the best.
TEST(BestSoFar, ALossThatIsNotFiniteEndsTheRun) {
  for (const double broken : {nan, std::numeric_limits<double>::infinity()}) {
    BestSoFar best(options_of(100, 10), weights_of(0));
    best.look(nan, 1, weights_of(0));
    EXPECT_FALSE(go_and_look(best, broken, 1));
    EXPECT_EQ(best.verdict(), Status::not_finite);
    EXPECT_TRUE(best.over());
    EXPECT_EQ(best.result().best_loss, 1);
    EXPECT_TRUE(torch::equal(best.weights(), weights_of(0)));
  }
}

TEST(BestSoFar, GoesOnFromItsState) {
  BestSoFar whole(options_of(100, 20), weights_of(0));
  whole.look(nan, 5, weights_of(1));
  go_and_look(whole, 3, 2);
  go_and_look(whole, 4, 3);
  BestSoFar restored(options_of(100, 20), weights_of(0));
  restored.restore(whole.state());
  testing::expect_same(restored.result(), whole.result(), "restored");
  for (BestSoFar* best : {&whole, &restored}) {
    EXPECT_FALSE(best->over());
    EXPECT_FALSE(go_and_look(*best, 4, 4));
    EXPECT_TRUE(best->over());
  }
  testing::expect_same(restored.result(), whole.result(), "one look later");
  EXPECT_TRUE(torch::equal(restored.weights(), weights_of(2)));
}

/// Checkpoints of other versions are read by these names.
TEST(BestSoFar, ItsStateKeepsItsNames) {
  BestSoFar best(options_of(100, 0), weights_of(0));
  best.look(nan, 5, weights_of(1));
  go_and_look(best, 3, 2);
  const NamedTensors state = best.state();
  EXPECT_EQ(state.size(), 4u);
  EXPECT_TRUE(torch::equal(at(state, "best"), weights_of(2)));
  EXPECT_EQ(at(state, "curve").sizes(), (std::vector<int64_t>{2, 3}));
  EXPECT_TRUE(torch::equal(at(state, "progress"), torch::tensor({10, 10}, torch::kInt64)));
  EXPECT_EQ(at(state, "best_loss").item<double>(), 3);
  EXPECT_THROW(best.restore({{"best", weights_of(0)}}), Error);
}

}  // namespace
}  // namespace dre
