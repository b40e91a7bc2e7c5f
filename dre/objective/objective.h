/// Objectives: what training minimises, as one number for every row of a batch.
#pragma once

#include <torch/types.h>

#include "dre/bridge/bridge.h"

namespace dre {

/// Rows drawn from the two sides, [n, d] each; row i of one is coupled with row i of the other.
struct Batch {
  Tensor x0;  ///< numerator
  Tensor x1;  ///< denominator
};

/// The loss, row by row, split into what depends on the drawn times and what does not: importance
/// weights of the times belong to the first part only. Either may be undefined.
struct Terms {
  Tensor at_time;  ///< [n]
  Tensor free;     ///< [n]
};

class Objective {
 public:
  virtual ~Objective() = default;

  /// t: [n, 1] inside interval(); random directions and noise come from `generator`, on the batch's
  /// device.
  virtual Terms terms(const Batch& batch, const Tensor& t, at::Generator& generator) const = 0;

  /// The times that training draws from.
  virtual Interval interval() const = 0;
};

/// Both parts together without importance weights; their mean is the held-out loss. [rows]
Tensor row_losses(const Terms& terms);

}  // namespace dre
