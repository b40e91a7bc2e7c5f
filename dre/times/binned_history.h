/// Times drawn by how large losses have been at them. All of it is done where the losses are,
/// without a word to the host, so that a recorded step may hold it.
#pragma once

#include <torch/types.h>

#include "dre/base/context.h"
#include "dre/base/named_tensors.h"

namespace dre {

/// The density of times is constant in each of some bins of [from, to]: proportional to the root
/// mean square of the bin's losses, which fades with the batches, over a floor.
class BinnedHistory final {
 public:
  BinnedHistory(double from, double to, const torch::TensorOptions& options);

  struct Draw {
    Tensor t;       ///< [n, 1], ascending
    Tensor weight;  ///< [n]: E[weight g(t)] is the mean of g over [from, to]
  };

  /// One time in each of n cells of equal probability.
  Draw draw(int64_t n, at::Generator& generator) const;

  /// losses: [n], without weights, at times t: [n, 1]
  void observe(const Tensor& t, const Tensor& losses);

  NamedTensors state() const { return {{"squares", squares_}, {"counts", counts_}}; }
  void restore(const NamedTensors& state);

 private:
  Tensor density() const;  // [bins], of mean one

  double from_, to_;
  Tensor squares_, counts_;  // [bins], always in the same place, which a recorded step knows
};

}  // namespace dre
