/// Hamiltonian Monte Carlo for a tilted normal, many chains side by side.
#pragma once

#include "dre/sampling/tilt.h"

namespace dre {

/// m chains and the β they are at.
struct Chains {
  Tensor z;  ///< [m, d]
  double beta;
  Tensor value;       ///< [m], L_β there
  Tensor force = {};  ///< [m, d], of L_β there; undefined until it is asked for
};

Chains start_chains(Tilt& tilt, const Tensor& z, double beta);

/// L at the chains' points by another β: [m]
Tensor value_at(Tilt& tilt, const Chains& chains, double beta);

/// Takes the chains, as they stand, to another β. -> the change of L: [m]
Tensor change_beta(Tilt& tilt, Chains& chains, double beta);

/// Position and momentum of every chain.
struct Phase {
  Tensor z, momentum;  ///< [m, d]
  Tensor force = {};   ///< [m, d], of L_β at z; undefined until it is asked for
};

/// `count` leapfrog steps of size `step` ([], or [m, 1] for a size a chain): volume-preserving, and
/// reversible by turning the momentum round, whatever the force.
Phase leapfrog(Tilt& tilt, double beta, Phase phase, const Tensor& step, int64_t count);

/// One Metropolis-corrected trajectory, whose steps are for every chain a random share between 0.2
/// and 1 of `step` long: leaves f_β invariant. A chain that leaves the finite numbers stays where
/// it was. generator: on the chains' device. -> mean probability of acceptance, [] on the device
Tensor transition(Tilt& tilt, Chains& chains, const Tensor& step, int64_t leapfrogs,
                  at::Generator& generator);

}  // namespace dre
