/// Early stopping: the looks of a run at its held-out loss, the best averaged weights among them,
/// and whether the run is to go on.
#pragma once

#include "dre/base/named_tensors.h"
#include "dre/train/options.h"
#include "dre/train/result.h"

namespace dre {

class BestSoFar final {
 public:
  /// `weights`: those of the start, which are the best until the first look.
  BestSoFar(const TrainOptions& options, const Tensor& weights);

  void count_step() { ++result_.steps; }

  /// One more look, at the steps counted so far. The first look and every smaller held-out loss
  /// make `weights` the best; true where they are.
  bool look(double train_loss, double held_out_loss, const Tensor& weights);

  /// By the curve so far: go on, or why not. After the first look.
  TrainResult::Status verdict() const;

  /// Whether no step is left to make.
  bool over() const;

  /// The run ends with the verdict, or was stopped before.
  void end(bool stopped);

  const Tensor& weights() const { return weights_; }
  const TrainResult& result() const { return result_; }

  /// "best", "curve", "progress", "best_loss".
  NamedTensors state() const;
  void restore(const NamedTensors& state);

 private:
  int64_t most_steps_, patience_;
  Tensor weights_;
  TrainResult result_;
};

}  // namespace dre
