/// Batches without weights from samples with weights: every epoch is a systematic resample.
#pragma once

#include "dre/base/named_tensors.h"
#include "dre/data/samples.h"

namespace dre {

/// n rows in which row i stands n·wᵢ/Σw times, rounded up or down: the rows under n equally spaced
/// points, the first at `offset` in [0, 1), on the line of cumulated weights. Averages over them
/// need no weights and vary less than under independent draws. -> [n], int64, ascending, host.
Tensor systematic_rows(const Samples& samples, int64_t n, double offset);

/// An endless stream of batches. An epoch has as many rows as the samples; with equal weights it is
/// every row once. Holds one index tensor besides the samples, and draws from `generator` alone,
/// which should serve no one else.
class Batches final {
 public:
  Batches(Samples samples, int64_t batch, at::Generator generator);

  /// [batch, d], on the device of the samples.
  Tensor next();

  /// The rows of the next batch: [batch], int64, host. Moves on as next() does.
  Tensor next_rows();

  /// All that decides the batches to come: "generator", "order", "position".
  NamedTensors state() const;

  /// Continues exactly where `state` was taken, over the same samples.
  void restore(const NamedTensors& state);

 private:
  void start_epoch();

  Samples samples_;
  int64_t batch_;
  at::Generator generator_;
  Tensor order_;  ///< rows of this epoch
  int64_t position_ = 0;
};

}  // namespace dre
