/// log r of an energy model: the integral of its time score, whose mean over a bridge says how far
/// it is from normalised.
#pragma once

#include <optional>

#include "dre/base/progress.h"
#include "dre/energy/evaluate_options.h"
#include "dre/energy/model.h"

namespace dre {

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
std::optional<Measured> zero_mean_correction(const EnergyModel& model, const Tensor& y,
                                             const EnergyEvaluateOptions& options,
                                             at::Generator& generator, Progress& progress);

}  // namespace dre
