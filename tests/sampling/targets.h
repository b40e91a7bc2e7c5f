/// Densities with known normaliser as tilts of N(0, I): log r, log Z, and exact draws.
#pragma once

#include <cmath>

#include "dre/density/density.h"
#include "dre/sampling/route.h"

namespace dre::testing {

struct Target {
  std::string name;
  int64_t dimension;
  std::function<Tensor(const Tensor&)> log_ratio;  ///< differentiable, [m, d] -> [m]
  double log_normaliser;                           ///< of N r
  std::function<Tensor(int64_t n, at::Generator&)> draw;

  PowerTilt tilt() const { return PowerTilt(differentiated(log_ratio)); }

  /// Of points under the normalised target: [n]
  Tensor log_density(const Tensor& z) const {
    return standard_normal_log_prob(z) + log_ratio(z) - log_normaliser;
  }
};

/// r = exp(-½ Σ a z² + b Σ z + c): the product with N(0, I) is Gaussian with precision 1 + a.
inline Target gaussian_tilt(int64_t d, double a, double b, double c) {
  const double precision = 1 + a, n = static_cast<double>(d);
  return {
      "gaussian" + std::to_string(d), d,
      [=](const Tensor& z) { return (-0.5 * a * z.square() + b * z).sum(1) + c; },
      c + n * (b * b / (2 * precision) - 0.5 * std::log(precision)),
      [=](int64_t rows, at::Generator& generator) {
        return normal({rows, d}, torch::kFloat64, generator) / std::sqrt(precision) + b / precision;
      }};
}

/// Z times ½ N(m, s² I) + ½ N(-m, s² I) over N(0, I), m on the diagonal.
inline Target mixture(int64_t d, double m, double s, double log_z) {
  const auto component = [=](const Tensor& z, double centre) {
    return standard_normal_log_prob((z - centre) / s) - static_cast<double>(d) * std::log(s);
  };
  return {"mixture" + std::to_string(d), d,
          [=](const Tensor& z) {
            return at::logaddexp(component(z, m), component(z, -m)) - std::log(2.0) + log_z -
                   standard_normal_log_prob(z);
          },
          log_z,
          [=](int64_t rows, at::Generator& generator) {
            const Tensor sign = uniform({rows, 1}, torch::kFloat64, generator).sub(0.5).sign();
            return m * sign + s * normal({rows, d}, torch::kFloat64, generator);
          }};
}

/// The same step everywhere, temperatures at equal distances.
inline Route even_route(double step_size) {
  return {torch::full({2}, step_size, torch::kFloat64), torch::ones({2}, torch::kFloat64)};
}

inline std::vector<Target> targets() {
  return {gaussian_tilt(3, 2.0, 0.8, 1.5), gaussian_tilt(2, -0.4, 0.2, -3), mixture(1, 1.2, 0.5, 2),
          mixture(2, 1.0, 0.6, -1)};
}

}  // namespace dre::testing
