/// Log-densities along an arc from a point of the data to a point of the noise. It stays where the
/// bridge is, and so where the scores were trained; an integral over time alone asks them about
/// clean images among noise. Models with a time score and a data score have one.
#pragma once

#include "dre/energy/log_ratio.h"

namespace dre {

/// log p(y) at the time `from`, given that p is N(0, I) at the time `to`: log N(noise; 0, I) less
/// the integral of the time score and of what the data score adds, along cos(phi) y + sin(phi)
/// noise, phi a quarter turn on the way from `from` to `to`. nodes: between these. y, noise: [n, d]
/// -> [n]
///
/// With exact scores every noise gives the same. Nothing where a stop was asked for.
std::optional<Tensor> arc_log_prob(const Score& score, const Tensor& y, const Tensor& noise,
                                   const TimeNodes& nodes, double from, double to,
                                   Progress& progress);

bool has_arc(const EnergyModel& model);

/// Of points of the model's space. Where two bridges meet in N(0, I) the arcs end there.
std::optional<Tensor> arc_log_prob(const EnergyModel& model, const Tensor& y, const Tensor& noise,
                                   int64_t nodes, Progress& progress);

}  // namespace dre
