/// What training tells about itself.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "dre/numeric/measured.h"

namespace dre {

/// One look at the losses.
struct CurvePoint {
  int64_t step;
  double train;     ///< mean loss of the steps since the last look
  double held_out;  ///< of the averaged weights
};

struct TrainResult {
  enum class Status {
    finished,     ///< all steps were made
    early,        ///< the held-out loss stopped falling
    interrupted,  ///< a stop was asked for; the state allows to go on
    not_finite,   ///< the loss left the finite numbers; the best weights before that are kept
  };
  Status status = Status::finished;
  std::vector<CurvePoint> curve;
  int64_t best_step = 0;
  double best_loss = 0;
  int64_t steps = 0;
  Measured gain;  ///< how much better than the start the best is on the held-out rows, row by row
};

std::string describe(TrainResult::Status status);

/// [looks, 3], float64, and back: how a curve travels in a checkpoint.
torch::Tensor curve_tensor(const std::vector<CurvePoint>& curve);
std::vector<CurvePoint> curve_of(const torch::Tensor& tensor);

}  // namespace dre
