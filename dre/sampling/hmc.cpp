#include "dre/sampling/hmc.h"

#include "dre/base/error.h"

namespace dre {
namespace {

/// log of f_β(z) N(momentum), the negative energy: [m]
Tensor log_joint(const Phase& phase, const Tensor& value) {
  return (phase.z.square() + phase.momentum.square()).sum(1).mul(-0.5) + value;
}

}  // namespace

Chains start_chains(Tilt& tilt, const Tensor& z, double beta) {
  const torch::NoGradGuard no_grad;
  check(z.dim() == 2, "chains must be [m, d], got ", z.sizes());
  const Tensor points = z.detach();
  return {points, beta, tilt.value(points, beta)};
}

Tensor value_at(Tilt& tilt, const Chains& chains, double beta) {
  const torch::NoGradGuard no_grad;
  const auto growth = tilt.growth(chains.beta, beta);
  return growth ? *growth * chains.value : tilt.value(chains.z, beta);
}

Tensor change_beta(Tilt& tilt, Chains& chains, double beta) {
  const torch::NoGradGuard no_grad;
  const Tensor value = value_at(tilt, chains, beta);
  const auto growth = tilt.growth(chains.beta, beta);
  chains.force = growth && chains.force.defined() ? *growth * chains.force : Tensor();
  // What has no density has no weight, before and after.
  const Tensor change = at::where(value.isneginf(), value, value - chains.value);
  chains.beta = beta;
  chains.value = value;
  return change;
}

Phase leapfrog(Tilt& tilt, double beta, Phase phase, const Tensor& step, int64_t count) {
  const torch::NoGradGuard no_grad;
  auto& [z, momentum, force] = phase;
  if (!force.defined()) force = tilt.force(z, beta);
  const auto kick = [&](double share) { momentum = momentum + share * step * (force - z); };
  kick(0.5);
  for (int64_t i = 0; i < count; ++i) {
    z = z + step * momentum;
    force = tilt.force(z, beta);
    kick(i + 1 < count ? 1.0 : 0.5);
  }
  return phase;
}

Tensor transition(Tilt& tilt, Chains& chains, const Tensor& step, int64_t leapfrogs,
                  at::Generator& generator) {
  const torch::NoGradGuard no_grad;
  if (!chains.force.defined()) chains.force = tilt.force(chains.z, chains.beta);
  const Phase before{chains.z, normal(chains.z.sizes(), chains.z.options(), generator),
                     chains.force};
  // Trajectories of one length would bring the chains of some targets back to where they came from.
  const Tensor share = uniform({chains.z.size(0), 1}, step.options(), generator).mul(0.8).add(0.2);
  const Phase after = leapfrog(tilt, chains.beta, before, step * share, leapfrogs);
  const Tensor value = tilt.value(after.z, chains.beta);
  const Tensor gain = log_joint(after, value) - log_joint(before, chains.value);
  const Tensor probability = gain.clamp_max(0).exp().nan_to_num(0.0);
  const Tensor accepted = uniform(gain.sizes(), gain.options(), generator) < probability;
  const Tensor moved = accepted.unsqueeze(1);
  chains.z = at::where(moved, after.z, chains.z);
  chains.force = at::where(moved, after.force, chains.force);
  chains.value = at::where(accepted, value, chains.value);
  return probability.mean();
}

}  // namespace dre
