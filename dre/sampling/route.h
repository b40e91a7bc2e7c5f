/// The way from N(0, I) to a model through the densities f_β of a tilt: how long the leapfrog steps
/// are on it, and where its temperatures β lie. Found by a pilot run and then frozen: what still
/// followed the chains would spoil their invariance.
#pragma once

#include <vector>

#include "dre/base/progress.h"
#include "dre/sampling/anneal_options.h"
#include "dre/sampling/hmc.h"

namespace dre {

class Route final {
 public:
  /// Both [k], k >= 2, at equally spaced √β from 0 to 1: powers of a ratio narrow most at small β.
  /// spread: the standard deviation of dL_β/dβ there.
  Route(const Tensor& step_sizes, const Tensor& spread);

  /// The size of a leapfrog step at β, interpolated between the two neighbours; [], on the device
  /// of the sizes.
  Tensor step(double beta) const;

  /// β_0 = 0 < β_1 < ... < β_n = 1, at equal distances of ∫ spread dβ: each then adds as much to
  /// the variance of the weights, whose sum is the least that n temperatures can have.
  std::vector<double> temperatures(int64_t n) const;

  const Tensor& step_sizes() const { return step_sizes_; }

 private:
  Tensor step_sizes_;
  std::vector<double> length_;  ///< of the way from 0 to each knot
};

/// A forward annealing of `chains` chains over `pilot_steps` temperatures. Each transition makes
/// the step size longer or shorter by `adaptation`, as its acceptance is above or below the wanted
/// one; where far too few or far too many are accepted, a temperature gets more of them, since a
/// target that narrows quickly would leave one change a temperature behind. Before that, tries at
/// β = 0 bring a start up to a thousand times too small near its place.
Route pilot_run(Tilt& tilt, int64_t dimension, const AnnealOptions& options,
                const torch::TensorOptions& where, at::Generator& generator, Progress& progress);

/// The same backwards, from points z of the model: [n, d], best not those that raise() will be
/// given, to whose transitions the route is then frozen. Points of narrow regions that no chain
/// from N(0, I) has found need shorter steps than those chains.
Route pilot_run_back(Tilt& tilt, const Tensor& z, const AnnealOptions& options,
                     at::Generator& generator, Progress& progress);

}  // namespace dre
