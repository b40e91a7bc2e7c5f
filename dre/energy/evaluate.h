/// What an energy model says about images: bits for each dimension, directly and along the flow.
#pragma once

#include <optional>

#include "dre/base/progress.h"
#include "dre/energy/evaluate_options.h"
#include "dre/energy/model.h"
#include "dre/numeric/measured.h"

namespace dre {

/// The images of points: [n, d] -> [n, d], bytes, on the host.
Tensor energy_pixels(const EnergyModel& model, const Tensor& y);

/// Bits for each dimension: means over images with their standard errors.
struct EnergyReport {
  int64_t rows = 0;
  Measured noise;              ///< the noise model alone
  Measured direct, corrected;  ///< without and with the zero-mean correction
  Measured direct_exact;       ///< direct by the exact divergence; NaN for models without a flow
  Measured arc;  ///< along an arc to a draw of N(0, I), not corrected; NaN for models without arcs
  Measured flow_by_variance, flow;  ///< NaN for models without a flow
  /// |corrected - flow by variance| of an image: the same scores along two paths, without the noise
  /// of a probe.
  Measured disagreement;
  Measured noise_half;  ///< where two bridges meet, else NaN: bits of the noise model by the half
                        ///< that leads to it, less its own
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
