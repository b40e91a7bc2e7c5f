/// Hamiltonian Monte Carlo for the tilted normal f_β(z) = N(z; 0, I) r(z)^β, many chains side by
/// side. β = 0 is the latent density of a noise model, β = 1 the model that log r makes of it. Any
/// density p is such a target, with log r = log p - log N and β = 1.
#pragma once

#include <functional>

#include "dre/base/context.h"
#include "dre/base/options.h"

namespace dre {

/// log r and its gradient at m points: [m] and [m, d].
struct Slope {
  Tensor value, gradient;
};

/// z: [m, d]. Called without gradient mode.
using LogRatioFunction = std::function<Slope(const Tensor& z)>;

/// From a differentiable function [m, d] -> [m], by autograd.
LogRatioFunction differentiated(std::function<Tensor(const Tensor& z)> log_ratio);

/// Where m chains are. The slope is kept, so that no point is evaluated twice.
struct Chains {
  Tensor z;     ///< [m, d]
  Slope slope;  ///< of log r there
};

Chains start_chains(const LogRatioFunction& log_ratio, const Tensor& z);

/// Position and momentum of every chain.
struct Phase {
  Chains chains;
  Tensor momentum;  ///< [m, d]
};

/// `count` leapfrog steps of size `step` ([], or [m, 1] for a size a chain): volume-preserving, and
/// reversible by turning the momentum round.
Phase leapfrog(const LogRatioFunction& log_ratio, double beta, Phase phase, const Tensor& step,
               int64_t count);

struct Transition {
  Chains chains;
  Tensor acceptance;  ///< [], mean probability of acceptance; on the device
};

/// One Metropolis-corrected trajectory, whose steps are for every chain a random share between 0.2
/// and 1 of `step` long: leaves f_β invariant. A chain that leaves the finite numbers stays where
/// it was. generator: on the chains' device.
Transition transition(const LogRatioFunction& log_ratio, double beta, const Chains& chains,
                      const Tensor& step, int64_t leapfrogs, at::Generator& generator);

}  // namespace dre
