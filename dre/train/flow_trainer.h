/// Maximum likelihood for flows: minimises the bits a dimension of the rows costs, by Adam with
/// averaged weights; the best average by held-out loss wins.
#pragma once

#include <functional>

#include "dre/base/progress.h"
#include "dre/data/batches.h"
#include "dre/density/flow.h"
#include "dre/train/adam.h"
#include "dre/train/best_so_far.h"
#include "dre/train/captured_step.h"

namespace dre {

/// Rows of numbers, [n, d], or pixels, [n, d] of uint8, which get fresh noise whenever they are
/// used and whose bits then count the way back to whole numbers (dre/data/mnist.h).
struct FlowData {
  Tensor train;     ///< rows to learn from
  Tensor held_out;  ///< rows to judge by
};

/// The paper's training of each recipe: steps, batch, rate.
TrainOptions flow_train_options(const std::string& recipe);

/// Rows or pixels on the context's device; rows get its precision, pixels stay bytes.
Tensor rows_on(const Tensor& x, const Context& context);

/// x: rows or pixels, [n, d], on the density's device -> bits per dimension of each, [n], float64
/// and on the host. Pixels draw their noise from `generator`.
Tensor flow_bits(const Density& density, const Tensor& x, at::Generator& generator,
                 int64_t block = 1000);

/// The same, telling how far it is; only of the rows until then where a stop is asked for. On the
/// CPU blocks are so small that a stop does not wait long.
Tensor flow_bits(const Density& density, const Tensor& x, at::Generator& generator,
                 Progress& progress);

/// Initialises a fresh flow by the training rows.
void start_flow(Flow& flow, const FlowData& data, const Context& context);

class FlowTrainer final {
 public:
  /// The flow, started or about to be restored, must outlive the trainer and be on the context's
  /// device; the data are brought there.
  FlowTrainer(Flow& flow, const FlowData& data, const TrainOptions& options,
              const Context& context);

  /// Trains to the end, an early stop or an interruption. The flow then has the best averaged
  /// weights, except after an interruption, where state() still holds all that is needed to go on;
  /// `checkpoint` is called now and then between two steps. On the CPU an interruption waits for a
  /// step or a block of judged rows, elsewhere for the steps that were sent off together.
  TrainResult run(Progress& progress, const std::function<void()>& checkpoint = {});

  /// Everything that decides the rest of the run, the flow's tensors included.
  NamedTensors state() const;
  void restore(const NamedTensors& state);

  /// Judges the weights of an interrupted run, too, before use_best. A run that goes on from here
  /// has one look more; false where a stop was asked for.
  bool look(Progress& progress);

  /// The best averaged weights so far into the flow, after an interruption.
  void use_best();

  const TrainResult& result() const { return best_.result(); }

 private:
  void plan();
  void step();
  void work();
  bool look_is_due() const;
  bool evaluate(double train_loss, Progress& progress);

  Flow& flow_;
  TrainOptions options_;
  Context context_;
  Tensor train_, held_out_;  // on the device
  Batches batches_;
  Tensor rows_;              // of the planned batches, [steps, batch], on the device
  int64_t planned_ = 0;      // of these, the next
  at::Generator generator_;  // noise, on the device
  Adam adam_;
  Tensor batch_, noise_;  // what a recorded step reads
  Tensor loss_;           // sum over the steps since the last look
  CapturedStep captured_;
  BestSoFar best_;
};

}  // namespace dre
