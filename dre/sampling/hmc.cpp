#include "dre/sampling/hmc.h"

#include <torch/csrc/autograd/autograd.h>

#include "dre/base/error.h"
#include "dre/density/density.h"

namespace dre {
namespace {

/// ∇ log f_β
Tensor force(const Chains& chains, double beta) {
  return at::sub(chains.slope.gradient * beta, chains.z);
}

/// log of f_β(z) N(momentum), the negative energy: [m]
Tensor log_joint(const Phase& phase, double beta) {
  const Chains& chains = phase.chains;
  return (chains.z.square() + phase.momentum.square()).sum(1).mul(-0.5) + beta * chains.slope.value;
}

Tensor choose_rows(const Tensor& rows, const Tensor& yes, const Tensor& no) {
  return at::where(yes.dim() > 1 ? rows.unsqueeze(1) : rows, yes, no);
}

}  // namespace

LogRatioFunction differentiated(std::function<Tensor(const Tensor& z)> log_ratio) {
  return [log_ratio = std::move(log_ratio)](const Tensor& z) -> Slope {
    const torch::AutoGradMode with_gradient(true);
    const Tensor leaf = z.detach().requires_grad_();
    const Tensor value = log_ratio(leaf);
    return {value.detach(), torch::autograd::grad({value.sum()}, {leaf})[0].detach()};
  };
}

Chains start_chains(const LogRatioFunction& log_ratio, const Tensor& z) {
  const torch::NoGradGuard no_grad;
  check(z.dim() == 2, "chains must be [m, d], got ", z.sizes());
  Chains chains{z.detach(), log_ratio(z)};
  const int64_t m = z.size(0);
  check(chains.slope.value.sizes() == torch::IntArrayRef({m}) &&
            chains.slope.gradient.sizes() == z.sizes(),
        "log r must give values [", m, "] and gradients ", z.sizes(), ", got ",
        chains.slope.value.sizes(), " and ", chains.slope.gradient.sizes());
  return chains;
}

Phase leapfrog(const LogRatioFunction& log_ratio, double beta, Phase phase, const Tensor& step,
               int64_t count) {
  const torch::NoGradGuard no_grad;
  auto& [chains, momentum] = phase;
  momentum = momentum + 0.5 * step * force(chains, beta);
  for (int64_t i = 0; i < count; ++i) {
    chains.z = chains.z + step * momentum;
    chains.slope = log_ratio(chains.z);
    momentum = momentum + (i + 1 < count ? 1.0 : 0.5) * step * force(chains, beta);
  }
  return phase;
}

Transition transition(const LogRatioFunction& log_ratio, double beta, const Chains& chains,
                      const Tensor& step, int64_t leapfrogs, at::Generator& generator) {
  const torch::NoGradGuard no_grad;
  const Phase before{chains, normal(chains.z.sizes(), chains.z.options(), generator)};
  // Trajectories of one length would bring the chains of some targets back to where they came from.
  const Tensor share = uniform({chains.z.size(0), 1}, step.options(), generator).mul(0.8).add(0.2);
  const Phase after = leapfrog(log_ratio, beta, before, step * share, leapfrogs);
  const Tensor gain = log_joint(after, beta) - log_joint(before, beta);
  const Tensor probability = gain.clamp_max(0).exp().nan_to_num(0.0);
  const Tensor draw = uniform(gain.sizes(), gain.options(), generator);
  const Tensor accepted = draw < probability;
  const Slope &old_slope = chains.slope, &new_slope = after.chains.slope;
  return {{choose_rows(accepted, after.chains.z, chains.z),
           {choose_rows(accepted, new_slope.value, old_slope.value),
            choose_rows(accepted, new_slope.gradient, old_slope.gradient)}},
          probability.mean()};
}

}  // namespace dre
