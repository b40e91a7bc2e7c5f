/// The learned flow between data and noise of an energy model: densities along it, samples by it,
/// and what its divergence says to the log-ratio. Velocity models have one.
#pragma once

#include "dre/energy/log_ratio.h"

namespace dre {

/// Whether the model has a flow: velocity models do.
bool has_flow(const EnergyModel& model);

/// Log-densities along the flow y' = u(y, theta) from data to noise: the noise model's at the end +
/// the integral of div u. With the exact divergence this is a normalised density, whatever the
/// network.
struct FlowDensity {
  Tensor by_variance;  ///< [n], div u from the variance head
  Tensor by_probe;     ///< [n], div u by the derivative along one random direction a row: exact in
                       ///< mean
  int64_t evaluations = 0;
};

/// y, probes: [n, d]; probes have uncorrelated entries of variance 1. `steps` Runge-Kutta steps on
/// every stretch of the model. One pass of value and tangent
/// through the network gives velocity and probe. Nothing where a stop was asked for.
std::optional<FlowDensity> flow_density(const EnergyModel& model, const Tensor& y,
                                        const Tensor& probes, int64_t steps, Progress& progress);

/// Draws by the flow from noise to data, `steps` on every stretch; [n, d], points of the model's
/// space. Nothing where a stop was asked for.
std::optional<Tensor> flow_samples(const EnergyModel& model, int64_t n, int64_t steps,
                                   at::Generator& generator, Progress& progress);

/// What log r(y) is more, where the time score takes the exact divergence of the flow's velocity
/// for that of the variance head: s = -div u - u . grad log p. The exact one is the derivative
/// along one random direction a row, exact in mean. The correction has no part in it. Nothing where
/// a stop was asked for. y, probes: [n, d] -> [n]
std::optional<Tensor> exact_divergence_gain(const EnergyModel& model, const Tensor& y,
                                            const Tensor& probes, const TimeNodes& nodes,
                                            Progress& progress);

/// Signs, [n, d]: the probes of least variance.
Tensor random_signs(torch::IntArrayRef shape, const torch::TensorOptions& options,
                    at::Generator& generator);

}  // namespace dre
