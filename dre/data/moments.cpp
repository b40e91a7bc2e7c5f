#include "dre/data/moments.h"

#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "dre/base/error.h"

namespace dre {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nearly_one = 1 - 1e-8;
constexpr double least_gain = 6;  // in noise variances, before a difference is believed

struct Estimate {
  Tensor delta;  // [d]
  double risk;   // estimated squared error, up to a constant that all candidates share
};

/// f(δ) = m + e (1 - τ²/e²)₊ applied to the eigenvalues, with Stein's risk
/// ‖f - δ‖² + 2·noise·div f, div f = Σᵢ f'(δᵢ) + Σ_{i<j} (fᵢ - fⱼ)/(δᵢ - δⱼ).
Estimate shrink(const Tensor& delta, double centre, bool centred, double threshold, double noise) {
  const Tensor rest = delta - centre;
  const Tensor square = rest.square().clamp_min(1e-300);
  const Tensor keep = (1 - threshold * threshold / square).clamp_min(0);
  const Tensor value = rest * keep;
  const Tensor slope = at::where(keep > 0, 2 - keep, torch::zeros_like(keep));

  const Tensor run = rest.unsqueeze(1) - rest;
  const Tensor rise = value.unsqueeze(1) - value;
  const Tensor ratio = at::where(run.abs() > 1e-12, rise / run, slope.expand_as(run));
  double divergence = (ratio.triu(1).sum() + slope.sum()).item<double>();
  // The mean of δ is estimated too: its own direction counts fully, and out of the rest.
  if (centred) divergence += 1 - slope.mean().item<double>();
  return {centre + value, (value - rest).square().sum().item<double>() + 2 * noise * divergence};
}

Tensor shrunk_difference(const Tensor& delta, double effective0, double effective1) {
  const double noise = (1 / effective0 + 1 / effective1) / 2;
  const double edge = std::sqrt(2 * noise * static_cast<double>(delta.numel()));
  Estimate best = shrink(delta, 0, false, infinity, noise);
  best.risk -= least_gain * noise;
  for (const bool centred : {false, true}) {
    const double centre = centred ? delta.mean().item<double>() : 0;
    for (const double share : {infinity, 1.0, 0.75, 0.5, 0.25, 0.0}) {
      const Estimate other = shrink(delta, centre, centred, share * edge, noise);
      if (other.risk < best.risk) best = other;
    }
  }
  return best.delta;
}

}  // namespace

Moments threshold(const Moments& moments, double effective0, double effective1) {
  const at::NoGradGuard no_grad;
  check(effective0 > 0 && effective1 > 0, "effective sizes must be positive, got ", effective0,
        " and ", effective1);
  const auto& [mean0, variance0, mean1, variance1] = moments;
  const double share0 = effective0 / (effective0 + effective1), share1 = 1 - share0;

  const auto dimension = static_cast<double>(mean0.numel());
  const Tensor noise = variance0 / effective0 + variance1 / effective1;
  const double evidence = ((mean0 - mean1).square() / noise).sum().item<double>();
  const double keep = dimension > 2 ? std::max(0.0, 1 - (dimension - 2) / evidence) : 1.0;
  const Tensor mean = share0 * mean0 + share1 * mean1;

  const Tensor sample = (variance0 - variance1) / (variance0 + variance1);
  const Tensor usable = sample * (sample.abs() < nearly_one);
  const Tensor delta = shrunk_difference(usable.atanh(), effective0, effective1).tanh();
  // The average variance keeps its sample value, whatever is left of the difference.
  const Tensor pooled = share0 * variance0 + share1 * variance1;
  const Tensor middle = pooled / (1 + (share0 - share1) * delta);
  return {mean + keep * (mean0 - mean), middle * (1 + delta), mean + keep * (mean1 - mean),
          middle * (1 - delta)};
}

}  // namespace dre
