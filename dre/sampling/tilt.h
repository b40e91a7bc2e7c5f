/// The densities between N(0, I) and a model that annealing goes through, as tilts of the first:
///     f_β(z) = N(z; 0, I) exp L_β(z),  0 <= β <= 1,  L_0 = 0.
/// β = 0 is the latent density of a noise model, β = 1 the model. Any density p can be the end,
/// with L_1 = log p - log N.
#pragma once

#include <functional>
#include <optional>

#include "dre/base/context.h"

namespace dre {

/// Called without gradient mode, with points [m, d] that nobody changes afterwards. Answers are
/// kept: they are not written to again. What is known at β = 0 costs nothing.
class Tilt {
 public:
  virtual ~Tilt() = default;

  /// L_β(z): [m]
  virtual Tensor value(const Tensor& z, double beta) = 0;

  /// What drives the leapfrog steps: ∇L_β(z), or something near it that is cheaper, since the
  /// Metropolis rule goes by the values. [m, d]
  virtual Tensor force(const Tensor& z, double beta) = 0;

  /// L_to / L_from where that is one number for all points, and known, and the force grows by it,
  /// too: then neither is asked again of points that only change their β.
  virtual std::optional<double> growth(double /*from*/, double /*to*/) const { return {}; }
};

/// log r and its gradient at m points: [m] and [m, d].
struct Slope {
  Tensor value, gradient;
};

/// z: [m, d]. Called without gradient mode.
using LogRatioFunction = std::function<Slope(const Tensor& z)>;

/// The growth of L_β = β log r. None from and to β = 0, where L is 0 whatever the ratio.
std::optional<double> growth_of_powers(double from, double to);

/// From a differentiable function [m, d] -> [m], by autograd.
LogRatioFunction differentiated(std::function<Tensor(const Tensor& z)> log_ratio);

/// L_β = β log r: powers of the ratio. Asks once where value and force of the same points are
/// wanted.
class PowerTilt final : public Tilt {
 public:
  explicit PowerTilt(LogRatioFunction log_ratio) : log_ratio_(std::move(log_ratio)) {}
  Tensor value(const Tensor& z, double beta) override;
  Tensor force(const Tensor& z, double beta) override;
  std::optional<double> growth(double from, double to) const override {
    return growth_of_powers(from, to);
  }

 private:
  const Slope& at(const Tensor& z);

  LogRatioFunction log_ratio_;
  Tensor last_;  // the points of the slope
  Slope slope_;
};

}  // namespace dre
