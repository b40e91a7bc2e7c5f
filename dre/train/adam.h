/// Adam over one flat vector of parameters, with warm-up, schedule, clipping and the weights'
/// moving average.
#pragma once

#include "dre/base/context.h"
#include "dre/base/named_tensors.h"
#include "dre/train/options.h"

namespace dre {

/// Learning rate at `step` (counted from 0) of `options.steps`.
double learning_rate(const TrainOptions& options, int64_t step);

class Adam final {
 public:
  Adam(const TrainOptions& options, const Tensor& weights);

  /// One step on `weights` along `gradient` (which is clipped in place); both [p].
  void step(Tensor& weights, Tensor& gradient);

  /// Moving average of the weights, [p]. Its decay grows from 0.1 to the full one, so that it
  /// forgets the start soon.
  const Tensor& average() const { return average_; }

  NamedTensors state() const;
  void restore(const NamedTensors& state);

 private:
  TrainOptions options_;
  int64_t steps_done_ = 0;
  Tensor mean_, square_, average_;
};

}  // namespace dre
