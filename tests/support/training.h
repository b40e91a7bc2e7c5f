/// What the tests of the trainer share.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "dre/train/trainer.h"

namespace dre::testing {

/// Takes the trainer's state at every look.
class Recorder final : public Progress {
 public:
  explicit Recorder(const Trainer& trainer) : trainer_(trainer) {}
  void advance(int64_t, const std::string&) override { states.push_back(trainer_.state()); }
  std::vector<NamedTensors> states;

 private:
  const Trainer& trainer_;
};

inline void expect_same(const TrainResult& a, const TrainResult& b, const std::string& label) {
  EXPECT_EQ(a.status, b.status) << label;
  EXPECT_EQ(a.steps, b.steps) << label;
  EXPECT_EQ(a.best_step, b.best_step) << label;
  EXPECT_EQ(a.best_loss, b.best_loss) << label;
  ASSERT_EQ(a.curve.size(), b.curve.size()) << label;
  for (size_t i = 0; i < a.curve.size(); ++i) {
    EXPECT_EQ(a.curve[i].step, b.curve[i].step) << label;
    EXPECT_EQ(a.curve[i].held_out, b.curve[i].held_out) << label;
    const bool both_nan = std::isnan(a.curve[i].train) && std::isnan(b.curve[i].train);
    EXPECT_TRUE(both_nan || a.curve[i].train == b.curve[i].train) << label;
  }
}

}  // namespace dre::testing
