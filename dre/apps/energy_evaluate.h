/// What an energy model says about images: log-ratios by an integral over time, log-densities along
/// the learned flow, bits for each dimension, and samples.
#pragma once

#include <optional>

#include "dre/apps/energy_model.h"
#include "dre/base/progress.h"

namespace dre {

struct EnergyEvaluateOptions {
  int64_t nodes = 16;
  int64_t flow_steps = 20;
  int64_t rows = 0;
  int64_t rows_at_once = 500;
  bool half = false;
  bool graph = true;

  void visit(OptionVisitor& v) {
    v("nodes", nodes, between(2, 200),
      "Gauss-Legendre nodes of the integral over time, between images on each side");
    v("flow-steps", flow_steps, at_least(1),
      "Runge-Kutta steps of the flow, four evaluations each, between images on each side");
    v("rows", rows, at_least(0), "images that are looked at; 0: all");
    v("rows-at-once", rows_at_once, at_least(1),
      "images that go through the network together; on the CPU at most 20");
    v("half", half,
      "convolutions in bfloat16, where there is CUDA; of annealing those that drive the chains");
    v("graph", graph, "record the energy's gradient as a graph and replay it, where there is CUDA");
  }
};

/// How many of `wanted` rows go through the network together: on the CPU few, as a stop waits for
/// them. Noise is drawn for all at once, so that it does not depend on this.
int64_t rows_together(const EnergyModel& model, int64_t wanted);

/// Times and weights of an integral over the model's times, on its device: [n] each.
struct TimeNodes {
  Tensor t, weight;
};

/// Gauss-Legendre in the variable u in which times are drawn, which resolves small angles; from u
/// = `from`, 0 at the data, to 1, the noise; `count` nodes on every stretch of the model.
TimeNodes time_nodes(const EnergyModel& model, int64_t count, double from = 0);

/// log r(y), correction included: minus the integral of the time score over time, or what the
/// classifier says. Differentiable. y: [n, d], points of the model's space -> [n]
Tensor energy_log_ratio(const EnergyModel& model, const Tensor& y, const TimeNodes& nodes);
Tensor energy_log_ratio(const EnergyModel& model, const Tensor& y, int64_t nodes);

/// What the model's `correction` should be: the integral of the mean time score, which is zero for
/// an exact score, over points of the bridge that starts at y: [n, d]. Classifiers need none.
/// Nothing where a stop was asked for.
std::optional<double> zero_mean_correction(const EnergyModel& model, const Tensor& y,
                                           const EnergyEvaluateOptions& options,
                                           at::Generator& generator, Progress& progress);

/// The images of points: [n, d] -> [n, d], bytes, on the host.
Tensor energy_pixels(const EnergyModel& model, const Tensor& y);

/// A mean over images with its standard error.
struct Bits {
  double value = 0, error = 0;
};

/// values: [n], n >= 2
Bits mean_bits(const Tensor& values);

struct EnergyReport {
  int64_t rows = 0;
  Bits noise;                   ///< the noise model alone
  Bits direct, corrected;       ///< without and with the zero-mean correction
  Bits direct_exact;            ///< direct by the exact divergence; NaN for models without a flow
  Bits flow_by_variance, flow;  ///< NaN for models without a flow
  Bits disagreement;            ///< |corrected - flow by probe| of an image
  Bits noise_half;  ///< where two bridges meet, else NaN: bits of the noise model by the half that
                    ///< leads to it, less its own
  int64_t direct_evaluations = 0, flow_evaluations = 0;  ///< of the network, for an image
  std::optional<double> direct_seconds;  ///< wall clock for the log-ratios of the first 100
                                         ///< images; none where a stop came before
  bool finished = true;  ///< false: a stop was asked for, and the numbers mean nothing
};

/// pixels: [n, d], bytes, on the model's device; dequantisation noise and probes are drawn from
/// `generator`.
EnergyReport evaluate_energy(const EnergyModel& model, const Tensor& pixels,
                             const EnergyEvaluateOptions& options, at::Generator& generator,
                             Progress& progress);

nlohmann::json to_json(const EnergyReport& report);

}  // namespace dre
