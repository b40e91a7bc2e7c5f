/// Adam over one flat vector of parameters, with warm-up, schedule, clipping and the weights'
/// moving average.
#pragma once

#include <vector>

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

  /// The same in two halves, for steps that are recorded once and replayed: plan() says the
  /// learning rates of the next steps, at most `plan_capacity` of them, and counts them as made;
  /// apply() does the work of the next of them, with everything it needs on the device. Weight
  /// decay is that of adamw.
  static constexpr int64_t plan_capacity = 256;
  void plan(const std::vector<double>& rates);
  void apply(Tensor& weights, Tensor& gradient);

  /// Moving average of the weights, [p]. Its decay grows from 0.1 to the full one, so that it
  /// forgets the start soon.
  const Tensor& average() const { return average_; }

  NamedTensors state() const;
  void restore(const NamedTensors& state);

 private:
  TrainOptions options_;
  int64_t steps_done_ = 0;
  Tensor mean_, square_, average_;
  Tensor plan_, next_;  // [capacity, 4] factors of the planned steps; [1], which comes next
};

}  // namespace dre
