#include "dre/sampling/annealing.h"

#include <algorithm>
#include <cmath>

#include "dre/base/error.h"
#include "dre/density/density.h"
#include "dre/numeric/statistics.h"

namespace dre {
namespace {

Tensor on_host(const Tensor& values) { return values.to(torch::kCPU, torch::kFloat64); }

/// The sum of acceptances over `steps` transitions, as their mean.
double mean_over(int64_t steps, const Tensor& acceptance) {
  return acceptance.item<double>() / static_cast<double>(steps);
}

AisResult summarise(const Tensor& log_weights, const Tensor& points, double acceptance,
                    int64_t steps, bool finished) {
  const Tensor weights = (log_weights - log_weights.max()).exp();
  // The delta method: an error of the mean weight, relative to it, is an error of its logarithm.
  const double relative = standard_error(weights) / weighted_mean(weights);
  return {log_mean_exp(log_weights),
          relative,
          effective_sample_size(weights),
          acceptance,
          steps,
          finished,
          log_weights,
          points};
}

struct Annealed {
  Tensor log_weights;  ///< [m], float64, on the device
  Tensor acceptance;   ///< [], sum over the steps
};

/// One block of points from the model to the noise model.
Annealed descend(Tilt& tilt, const Tensor& z, const Route& route, const AnnealOptions& options,
                 at::Generator& generator, Progress& progress) {
  const torch::NoGradGuard no_grad;
  const int64_t n = options.steps;
  const std::vector<double> beta = route.temperatures(n);
  Chains chains = start_chains(tilt, z, 1);
  Tensor log_weights = (standard_normal_log_prob(z) + chains.value).to(torch::kFloat64);
  Tensor acceptance = at::zeros({}, z.options());
  for (int64_t i = n; i >= 1 && !progress.stop_requested(); --i) {
    acceptance += transition(tilt, chains, route.step(beta[i]), options.leapfrogs, generator);
    log_weights += change_beta(tilt, chains, beta[i - 1]).to(torch::kFloat64);
    progress.advance(n - i + 1, "");
  }
  return {log_weights, acceptance};
}

}  // namespace

AisResult ais(Tilt& tilt, int64_t dimension, const Route& route, const AnnealOptions& options,
              const torch::TensorOptions& where, at::Generator& generator, Progress& progress) {
  const torch::NoGradGuard no_grad;
  validate(options);
  const int64_t n = options.steps;
  const std::vector<double> beta = route.temperatures(n);
  Chains chains = start_chains(tilt, normal({options.chains, dimension}, where, generator), 0);
  Tensor log_weights = at::zeros({options.chains}, where.dtype(torch::kFloat64));
  Tensor acceptance = at::zeros({}, where);
  progress.begin("annealing", n);
  for (int64_t i = 1; i <= n && !progress.stop_requested(); ++i) {
    log_weights += change_beta(tilt, chains, beta[i]).to(torch::kFloat64);
    acceptance += transition(tilt, chains, route.step(beta[i]), options.leapfrogs, generator);
    progress.advance(i, "");
  }
  progress.end();
  return summarise(on_host(log_weights), chains.z, mean_over(n, acceptance), n,
                   !progress.stop_requested());
}

RaiseResult raise(Tilt& tilt, const Tensor& z, const Route& route, const AnnealOptions& options,
                  at::Generator& generator, Progress& progress) {
  validate(options);
  check(z.dim() == 2 && z.size(0) >= 2, "points must be [n, d] with n >= 2, got ", z.sizes());
  std::vector<Tensor> values;
  double acceptance = 0;
  for (const auto& block : z.split(options.block)) {
    progress.begin("annealing backwards", options.steps);
    const Annealed done = descend(tilt, block, route, options, generator, progress);
    progress.end();
    values.push_back(on_host(done.log_weights));
    const double share = static_cast<double>(block.size(0)) / static_cast<double>(z.size(0));
    acceptance += share * mean_over(options.steps, done.acceptance);
  }
  const Tensor all = at::cat(values);
  return {weighted_mean(all), standard_error(all),        acceptance,
          options.steps,      !progress.stop_requested(), all};
}

}  // namespace dre
