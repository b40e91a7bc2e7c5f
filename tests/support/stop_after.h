/// A progress that asks for a stop: what an impatient user does.
#pragma once

#include "dre/base/progress.h"

namespace dre::testing {

/// Stops after the given number of questions.
class StopAfter final : public Progress {
 public:
  explicit StopAfter(int questions) : left_(questions) {}
  bool stop_requested() override { return left_-- <= 0; }

 private:
  int left_;
};

}  // namespace dre::testing
