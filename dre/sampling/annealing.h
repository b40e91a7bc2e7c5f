/// Normalisers by annealing between N(0, I) and the model N(z; 0, I) r(z): annealed importance
/// sampling (AIS, Neal 2001) bounds log Z = log ∫ N r from below on average, its reverse (RAISE,
/// Burda et al. 2015) bounds the likelihood of given points from below. Both see log r only.
#pragma once

#include <vector>

#include "dre/base/progress.h"
#include "dre/sampling/hmc.h"

namespace dre {

struct AnnealOptions {
  int64_t chains = 100;
  int64_t steps = 1000;
  int64_t leapfrogs = 10;
  int64_t pilot_steps = 200;
  double acceptance = 0.6;
  double adaptation = 0.05;
  double first_step = 0.02;
  int64_t block = 1000;

  void visit(OptionVisitor& v) {
    v("chains", chains, at_least(2), "annealed chains side by side");
    v("anneal-steps", steps, at_least(1), "temperatures between the noise model and the model");
    v("leapfrogs", leapfrogs, at_least(1), "leapfrog steps of a transition");
    v("pilot-steps", pilot_steps, at_least(1),
      "temperatures of the pilot run, in which the step size is adapted");
    v("acceptance", acceptance, between(0.05, 0.95), "acceptance the step size is adapted to");
    v("adaptation", adaptation, positive(), "relative change of the step size in the pilot run");
    v("first-step", first_step, positive(), "step size the pilot run starts from");
    v("raise-block", block, at_least(1), "points annealed backwards at a time");
  }
};

/// Sizes of the leapfrog steps along the path, found by a pilot run and then frozen: a size that
/// still followed the chains would spoil their invariance.
class StepSizes final {
 public:
  /// sizes: [k], k >= 2, at equally spaced √β from 0 to 1: the target narrows most at small β.
  explicit StepSizes(const Tensor& sizes);

  /// Interpolated between the two neighbours; [], on the device of the sizes.
  Tensor at(double beta) const;

  const Tensor& sizes() const { return sizes_; }

 private:
  Tensor sizes_;
};

/// A forward annealing of `chains` chains over `pilot_steps` temperatures. Each transition makes
/// the step size longer or shorter by `adaptation`, as its acceptance is above or below the wanted
/// one; where far too few or far too many are accepted, a temperature gets more of them, since a
/// target that narrows quickly would leave one change a temperature behind. Before that,
/// transitions at β = 0 bring a start up to a thousand times too small near its place.
StepSizes pilot_run(const LogRatioFunction& log_ratio, int64_t dimension,
                    const AnnealOptions& options, const torch::TensorOptions& where,
                    at::Generator& generator, Progress& progress);

/// The same backwards, from points z of the model: [n, d], best not those that raise() will be
/// given, to whose transitions the sizes are then frozen. Points of narrow regions that no chain
/// from N(0, I) has found need shorter steps than those chains.
StepSizes pilot_run_back(const LogRatioFunction& log_ratio, const Tensor& z,
                         const AnnealOptions& options, at::Generator& generator,
                         Progress& progress);

struct AisResult {
  double log_normaliser;  ///< log of the mean weight: on average at most log Z
  double standard_error;  ///< of that, by the delta method
  double effective_chains;
  double acceptance;
  int64_t steps;
  bool finished;       ///< false: a stop was asked for, and the numbers mean nothing
  Tensor log_weights;  ///< [chains], float64, host
  Tensor points;       ///< [chains, d]: samples of the model, as good as the annealing was slow
};

/// w += log r(z)/n, then a transition at β_i = i/n, for i = 1 ... n.
AisResult ais(const LogRatioFunction& log_ratio, int64_t dimension, const StepSizes& step_sizes,
              const AnnealOptions& options, const torch::TensorOptions& where,
              at::Generator& generator, Progress& progress);

struct RaiseResult {
  double log_likelihood;  ///< mean over the points: on average at most that of the annealed model
  double standard_error;  ///< over the points
  double acceptance;
  int64_t steps;
  bool finished;  ///< false: a stop was asked for, and the numbers mean nothing
  Tensor values;  ///< [points], float64, host: log-density of each in z
};

/// Starts at z with w = log N(z) + log r(z); a transition at β_i = i/n, then w -= log r(z)/n, for
/// i = n ... 1. In this order: the weight must be taken where the chain has already left z. Add the
/// log-determinants of the map to z for log-densities of data. z: [points, d]
RaiseResult raise(const LogRatioFunction& log_ratio, const Tensor& z, const StepSizes& step_sizes,
                  const AnnealOptions& options, at::Generator& generator, Progress& progress);

/// The same with n and with 2n temperatures: where the two differ by more than their errors, the
/// annealing was too fast.
template <class Result>
struct Doubled {
  Result once, twice;
};

template <class Run>
auto doubled(AnnealOptions options, Run run) {
  auto once = run(options);
  options.steps *= 2;
  return Doubled<decltype(once)>{std::move(once), run(options)};
}

}  // namespace dre
