#include "dre/sampling/annealing.h"

#include <algorithm>
#include <cmath>

#include "dre/base/error.h"
#include "dre/density/density.h"
#include "dre/numeric/statistics.h"

namespace dre {
namespace {

double fraction(int64_t i, int64_t n) { return static_cast<double>(i) / static_cast<double>(n); }

Tensor on_host(const Tensor& values) { return values.to(torch::kCPU, torch::kFloat64); }

/// Transitions at one temperature of a pilot run, at most.
constexpr int64_t most_tries = 30;

/// Chains that look for the step size of one temperature after the other.
class Pilot {
 public:
  Pilot(const AnnealOptions& options, const torch::TensorOptions& where, at::Generator& generator)
      : options_(options),
        generator_(generator),
        step_(at::full({}, options.first_step, where.requires_grad(false))) {}

  /// Brings a start up to a thousand times too large or too small near its place, by tries from
  /// where the chains are; they stay there.
  void burn_in(const LogRatioFunction& log_ratio, double beta, const Chains& chains,
               Progress& progress) {
    const auto most = static_cast<int64_t>(std::log(1000.0) / std::log1p(options_.adaptation));
    for (int64_t i = 0; i < most && !progress.stop_requested(); ++i) {
      Chains tried = chains;
      move(log_ratio, beta, tried);
    }
  }

  /// The step size at β, after more than one transition where far too few or far too many are
  /// accepted.
  Tensor settle(const LogRatioFunction& log_ratio, double beta, Chains& chains,
                Progress& progress) {
    const double wanted = options_.acceptance;
    for (int64_t tries = 0; tries < most_tries && !progress.stop_requested(); ++tries) {
      const double found = move(log_ratio, beta, chains).item<double>();
      if (found > wanted / 2 && found < (1 + wanted) / 2) break;
    }
    return step_;
  }

 private:
  /// A transition, then a longer step where more was accepted than wanted, a shorter one where
  /// less; without a look at the host. -> the acceptance, []
  Tensor move(const LogRatioFunction& log_ratio, double beta, Chains& chains) {
    auto [moved, acceptance] =
        transition(log_ratio, beta, chains, step_, options_.leapfrogs, generator_);
    chains = std::move(moved);
    const double up = 1 + options_.adaptation;
    step_ = step_ * at::where(acceptance > options_.acceptance, at::full_like(acceptance, up),
                              at::full_like(acceptance, 1 / up));
    return acceptance;
  }

  const AnnealOptions& options_;
  at::Generator& generator_;
  Tensor step_;
};

/// The temperature of knot i of the step sizes.
double pilot_beta(int64_t i, const AnnealOptions& options) {
  const double root = fraction(i, options.pilot_steps);
  return root * root;
}

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
Annealed descend(const LogRatioFunction& log_ratio, const Tensor& z, const StepSizes& step_sizes,
                 const AnnealOptions& options, at::Generator& generator, Progress& progress) {
  const torch::NoGradGuard no_grad;
  const int64_t n = options.steps;
  Chains chains = start_chains(log_ratio, z);
  Tensor log_weights = (standard_normal_log_prob(z) + chains.slope.value).to(torch::kFloat64);
  Tensor acceptance = at::zeros({}, z.options());
  for (int64_t i = n; i >= 1 && !progress.stop_requested(); --i) {
    const double beta = fraction(i, n);
    auto [moved, accepted] =
        transition(log_ratio, beta, chains, step_sizes.at(beta), options.leapfrogs, generator);
    chains = std::move(moved);
    log_weights -= chains.slope.value.to(torch::kFloat64) / static_cast<double>(n);
    acceptance += accepted;
    progress.advance(n - i + 1, "");
  }
  return {log_weights, acceptance};
}

}  // namespace

StepSizes::StepSizes(const Tensor& sizes) : sizes_(sizes.detach()) {
  check(sizes.dim() == 1 && sizes.size(0) >= 2, "step sizes must be [k] with k >= 2, got ",
        sizes.sizes());
}

Tensor StepSizes::at(double beta) const {
  const int64_t last = sizes_.size(0) - 1;
  const double place = std::sqrt(std::clamp(beta, 0.0, 1.0)) * static_cast<double>(last);
  const int64_t left = std::min(static_cast<int64_t>(place), last - 1);
  return at::lerp(sizes_[left], sizes_[left + 1], place - static_cast<double>(left));
}

StepSizes pilot_run(const LogRatioFunction& log_ratio, int64_t dimension,
                    const AnnealOptions& options, const torch::TensorOptions& where,
                    at::Generator& generator, Progress& progress) {
  const torch::NoGradGuard no_grad;
  validate(options);
  // At β = 0 the target is N(0, I) whatever log r, which is not cheap, says.
  const LogRatioFunction none = [](const Tensor& z) -> Slope {
    return {at::zeros({z.size(0)}, z.options()), at::zeros_like(z)};
  };
  Pilot pilot(options, where, generator);
  const Tensor z = normal({options.chains, dimension}, where, generator);
  pilot.burn_in(none, 0, start_chains(none, z), progress);
  Chains chains = start_chains(log_ratio, z);
  std::vector<Tensor> sizes;
  progress.begin("finding step sizes", options.pilot_steps);
  for (int64_t i = 0; i <= options.pilot_steps; ++i) {
    sizes.push_back(pilot.settle(log_ratio, pilot_beta(i, options), chains, progress));
    progress.advance(i, "");
  }
  progress.end();
  return StepSizes(at::stack(sizes));
}

StepSizes pilot_run_back(const LogRatioFunction& log_ratio, const Tensor& z,
                         const AnnealOptions& options, at::Generator& generator,
                         Progress& progress) {
  const torch::NoGradGuard no_grad;
  validate(options);
  Pilot pilot(options, z.options(), generator);
  Chains chains = start_chains(log_ratio, z);
  std::vector<Tensor> sizes;
  progress.begin("finding step sizes of the way back", options.pilot_steps);
  pilot.burn_in(log_ratio, 1, chains, progress);
  for (int64_t i = options.pilot_steps; i >= 0; --i) {
    sizes.push_back(pilot.settle(log_ratio, pilot_beta(i, options), chains, progress));
    progress.advance(options.pilot_steps - i, "");
  }
  progress.end();
  std::reverse(sizes.begin(), sizes.end());
  return StepSizes(at::stack(sizes));
}

AisResult ais(const LogRatioFunction& log_ratio, int64_t dimension, const StepSizes& step_sizes,
              const AnnealOptions& options, const torch::TensorOptions& where,
              at::Generator& generator, Progress& progress) {
  const torch::NoGradGuard no_grad;
  validate(options);
  const int64_t n = options.steps;
  Chains chains = start_chains(log_ratio, normal({options.chains, dimension}, where, generator));
  Tensor log_weights = at::zeros({options.chains}, where.dtype(torch::kFloat64));
  Tensor acceptance = at::zeros({}, where);
  progress.begin("annealing", n);
  for (int64_t i = 1; i <= n && !progress.stop_requested(); ++i) {
    log_weights += chains.slope.value.to(torch::kFloat64) / static_cast<double>(n);
    const double beta = fraction(i, n);
    auto [moved, accepted] =
        transition(log_ratio, beta, chains, step_sizes.at(beta), options.leapfrogs, generator);
    chains = std::move(moved);
    acceptance += accepted;
    progress.advance(i, "");
  }
  progress.end();
  return summarise(on_host(log_weights), chains.z, mean_over(n, acceptance), n,
                   !progress.stop_requested());
}

RaiseResult raise(const LogRatioFunction& log_ratio, const Tensor& z, const StepSizes& step_sizes,
                  const AnnealOptions& options, at::Generator& generator, Progress& progress) {
  validate(options);
  check(z.dim() == 2 && z.size(0) >= 2, "points must be [n, d] with n >= 2, got ", z.sizes());
  std::vector<Tensor> values;
  double acceptance = 0;
  for (const auto& block : z.split(options.block)) {
    progress.begin("annealing backwards", options.steps);
    const Annealed done = descend(log_ratio, block, step_sizes, options, generator, progress);
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
