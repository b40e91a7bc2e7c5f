/// Made-up sides of numbers for the tests of this room, and fits that take no time.
#pragma once

#include "dre/apps/cross_fit.h"
#include "dre/apps/sides.h"

namespace dre::testing {

using Strings = std::vector<std::string>;

inline Tensor rows(int64_t n, int64_t d, double mean, at::Generator& generator) {
  return mean + normal({n, d}, torch::kFloat64, generator);
}

/// Columns x0, x1, ... of numbers.
inline Sides numeric_sides(const Tensor& numerator, const Tensor& denominator) {
  return make_sides(make_samples(numerator), make_samples(denominator));
}

/// The reference alone: exact for Gaussian sides, and a fit takes milliseconds.
inline FitOptions reference_alone(int64_t seed) {
  FitOptions fit = quick_fit();
  fit.train.steps = 0;
  fit.seed = seed;
  return fit;
}

inline at::Generator stream(const std::string& name, uint64_t seed = 0) {
  return Context{torch::kCPU, torch::kFloat64, seed}.generator(name);
}

/// A network that learns in a second.
inline FitOptions small_network(int64_t seed) {
  FitOptions fit = quick_fit();
  fit.method = "nce";
  fit.score.width = 32;
  fit.train.steps = 150;
  fit.train.rate = 5e-3;
  fit.train.average = 0.98;
  fit.seed = seed;
  return fit;
}

}  // namespace dre::testing
