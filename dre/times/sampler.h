/// How the times of a training batch are drawn, and the weights that keep the objective unbiased:
/// E[weight g(t)] = ∫ g(t) dt over [clip, 1 - clip], for every sampler that does not say otherwise.
#pragma once

#include <torch/types.h>

#include <memory>
#include <string>
#include <vector>

#include "dre/base/context.h"
#include "dre/base/named_tensors.h"
#include "dre/base/options.h"

namespace dre {

struct Times {
  Tensor t;                ///< [n, 1] in [clip, 1 - clip]
  Tensor weight;           ///< [n] multiplies the loss terms that depend on t
  Tensor boundary_weight;  ///< [n] of the terms at the ends; ones but for the paper's variant
};

class TimeSampler {
 public:
  virtual ~TimeSampler() = default;

  /// n >= 1 times; `generator` is on the host, the result has the type and device of `options`.
  virtual Times draw(int64_t n, const torch::TensorOptions& options, at::Generator& generator) = 0;

  /// What the batch cost: losses [n], unweighted and without boundary terms. Samplers that learn
  /// from it copy it to the host.
  virtual void observe(const Times& /*times*/, const Tensor& /*losses*/) {}

  /// All from which a sampler continues exactly.
  virtual NamedTensors state() const { return {}; }
  virtual void restore(const NamedTensors& state);
};

/// uniform: independent draws. stratified: one in each of n equal cells, less variance for nothing.
/// tabulated: stratified from a given density, weighted by its inverse. history: stratified from a
/// density learned from past losses, weighted by its inverse. history-multiplicative: the paper's
/// published code, uniform times with the learned curve as the weight; it is biased: it minimises
/// another objective.
std::vector<std::string> time_sampler_names();

struct TimeOptions {
  std::string times = "stratified";
  double clip = 0;
  int64_t history = 10;
  int64_t degree = 4;
  double penalty = 1e-3;
  double floor = 0.1;

  void visit(OptionVisitor& v) {
    v("time-sampling", times, time_sampler_names(), "how times are drawn");
    v("time-clip", clip, below(0, 0.5),
      "distance from 0 and 1, for objectives singular at the ends");
    v("history-batches", history, at_least(1),
      "past batches whose losses are remembered (history)");
    v("history-degree", degree, between(0, 20), "of the polynomial through the losses (history)");
    v("history-penalty", penalty, at_least(0), "ridge penalty of that polynomial (history)");
    v("history-floor", floor, Range{0, 1, true, false},
      "share of uniform times in the learned density; no weight exceeds its inverse (history)");
  }
};

/// density: [g] heights at equally spaced times from clip to 1 - clip; for "tabulated" only.
std::unique_ptr<TimeSampler> make_time_sampler(const TimeOptions& options,
                                               const Tensor& density = {});

}  // namespace dre
