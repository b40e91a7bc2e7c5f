/// The training loop: batches, times, one objective, Adam on flat parameters, and early stopping by
/// the held-out loss of the averaged weights.
#pragma once

#include <functional>

#include "dre/base/named_tensors.h"
#include "dre/base/progress.h"
#include "dre/data/batches.h"
#include "dre/network/parameters.h"
#include "dre/objective/objective.h"
#include "dre/times/sampler.h"
#include "dre/train/adam.h"
#include "dre/train/best_so_far.h"

namespace dre {

/// What training works on. Rows stay where they are; batches travel to the parameters' device.
struct TrainData {
  Samples numerator, denominator;                    ///< rows to learn from
  Samples held_out_numerator, held_out_denominator;  ///< rows to judge by
};

class Trainer final {
 public:
  /// All references must outlive the trainer. `context` names the device, and its seed all random
  /// streams.
  Trainer(const Objective& objective, Parameters& parameters, TimeSampler& times,
          const TrainData& data, const TrainOptions& options, const Context& context);

  /// Trains to the end, an early stop or an interruption. The parameters then hold the best
  /// averaged weights, except after an interruption, where state() still holds all that is needed
  /// to go on. `checkpoint` is called now and then between two steps.
  TrainResult run(Progress& progress, const std::function<void()>& checkpoint = {});

  /// Everything that decides the rest of the run: a trainer restored from it continues to the same
  /// bytes.
  NamedTensors state() const;
  void restore(const NamedTensors& state);

 private:
  Tensor step();
  Batch next_batch();
  void evaluate(double train_loss);
  Tensor held_out_losses();
  TrainResult result_with_gain() const;

  const Objective& objective_;
  Parameters& parameters_;
  TimeSampler& times_;
  TrainOptions options_;
  Context context_;
  Batches numerator_, denominator_;
  Batch held_out_;
  at::Generator generator_;       // noise and directions, on the device
  at::Generator time_generator_;  // times, on the host
  Adam adam_;
  BestSoFar best_;
  Tensor first_losses_, best_losses_;  // of the held-out rows, at the start and at the best look
};

}  // namespace dre
