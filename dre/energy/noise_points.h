/// Points of the noise model, for batches. N(0, I) is drawn when it is asked for; images are drawn
/// ahead, a block at a time, and renewed block by block.
#pragma once

#include "dre/base/context.h"
#include "dre/energy/bridge_space.h"

namespace dre {

class NoisePoints final {
 public:
  /// A block holds as many images as four batches take.
  NoisePoints(const BridgeSpace& space, int64_t batch, const Context& context);

  Tensor draw(int64_t n, at::Generator& generator) const;

  /// A new block takes the place of the oldest.
  void renew();

  /// The blocks that are kept are numbered on from this one.
  int64_t oldest() const { return oldest_; }
  void begin_at(int64_t oldest);

 private:
  void place(int64_t number);

  const BridgeSpace& space_;
  int64_t block_;  // images
  Context context_;
  int64_t oldest_ = 0;
  Tensor kept_;  // [m, d], always in the same place, which a recorded step knows
};

}  // namespace dre
