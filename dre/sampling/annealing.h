/// Normalisers by annealing between N(0, I) and the model f_1 of a tilt: annealed importance
/// sampling (AIS, Neal 2001) bounds log Z = log ∫ f_1 from below on average, its reverse (RAISE,
/// Burda et al. 2015) bounds the likelihood of given points from below.
#pragma once

#include "dre/sampling/route.h"

namespace dre {

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

/// w += L_i(z) - L_{i-1}(z) for the tilts at β_i and β_{i-1}, then a transition at β_i, for i = 1
/// ... n.
AisResult ais(Tilt& tilt, int64_t dimension, const Route& route, const AnnealOptions& options,
              const torch::TensorOptions& where, at::Generator& generator, Progress& progress);

struct RaiseResult {
  double log_likelihood;  ///< mean over the points: on average at most that of the annealed model
  double standard_error;  ///< over the points
  double acceptance;
  int64_t steps;
  bool finished;  ///< false: a stop was asked for, and the numbers mean nothing
  Tensor values;  ///< [points], float64, host: log-density of each in z
};

/// Starts at z with w = log f_1(z); a transition at β_i, then w -= L_i(z) - L_{i-1}(z), for i = n
/// ... 1. In this order: the weight must be taken where the chain has already left
/// z. Add the log-determinants of the map to z for log-densities of data. z: [points, d]
RaiseResult raise(Tilt& tilt, const Tensor& z, const Route& route, const AnnealOptions& options,
                  at::Generator& generator, Progress& progress);

}  // namespace dre
