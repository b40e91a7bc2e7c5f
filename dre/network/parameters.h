/// The trained numbers of a network: named leaves of the autograd graph over one flat storage, so
/// that an optimiser step, an average or a clipping is one operation over one tensor.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "dre/base/named_tensors.h"

namespace dre {

using torch::Tensor;

class Parameters {
 public:
  Parameters() = default;
  Parameters(const Parameters&) = delete;  // two owners of one storage would train each other
  Parameters& operator=(const Parameters&) = delete;

  /// A new leaf that starts at a copy of `initial`; the handle stays valid through flatten().
  /// All leaves have the device and precision of the first.
  Tensor add(const std::string& name, const Tensor& initial);

  /// Moves all leaves into one storage, in the order of add(), and gives each a gradient that is a
  /// view of one flat gradient, into which backward() then accumulates. Does nothing the second
  /// time.
  void flatten();

  /// [count]; both need flatten() before.
  Tensor flat() const;
  Tensor flat_gradient() const;
  void zero_gradient();

  /// The leaves themselves, in the order of add().
  const NamedTensors& named() const { return leaves_; }

  /// How many numbers there are.
  int64_t count() const;

  /// Copies values in; names and shapes must be those of named(), in any order.
  void load(const NamedTensors& values);

  /// Copies the numbers of a checkpoint into flat(); data error where they are of another network.
  void restore(const Tensor& weights);

 private:
  NamedTensors leaves_;
  Tensor flat_, gradient_;
};

}  // namespace dre
