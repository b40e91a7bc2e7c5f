/// The paper's loss history: the last B batches sorted by time, the root mean square loss of each
/// rank over the batches, and a polynomial through it.
#pragma once

#include <torch/types.h>

#include <deque>
#include <optional>

#include "dre/numeric/ridge.h"
#include "dre/times/sampler.h"

namespace dre {

class LossHistory final {
 public:
  explicit LossHistory(const TimeOptions& options) : options_(options) {}

  /// t, losses: [n]. A batch of another size than those before starts the history anew; one with a
  /// loss that is not finite is left out.
  void add(const Tensor& t, const Tensor& losses);

  /// Relative size of the loss over t, of mean one over the ranks; nothing until B batches are
  /// there.
  const std::optional<Polynomial>& curve() const { return curve_; }

  NamedTensors state() const;
  void restore(const NamedTensors& state);

 private:
  struct Batch {
    Tensor t, losses;  ///< [n] ascending in t, float64 on the host
  };

  void fit();

  TimeOptions options_;
  std::deque<Batch> batches_;  ///< oldest first
  std::optional<Polynomial> curve_;
};

/// See time_sampler_names().
std::unique_ptr<TimeSampler> make_history(const TimeOptions& options);
std::unique_ptr<TimeSampler> make_history_multiplicative(const TimeOptions& options);

}  // namespace dre
