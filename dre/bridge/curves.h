/// Bridges without noise: a(t) x0 + b(t) x1.
#pragma once

#include "dre/bridge/bridge.h"

namespace dre {

/// Straight bridge x_t = (1-t) x0 + t x1.
class LinearBridge final : public Bridge {
 public:
  Coefficients at(const Tensor& t) const override;
};

/// The paper's general form with alpha(t) = t: x_t = sqrt(1-t^2) x0 + t x1. Its speed is infinite
/// at t = 1.
class ArithmeticBridge final : public Bridge {
 public:
  Coefficients at(const Tensor& t) const override;
  Interval interval() const override { return {0, 1 - 1e-5}; }
};

/// x_t = cos(theta) x0 + sin(theta) x1, theta = pi t / 2: constant speed on the sphere.
class TrigonometricBridge final : public Bridge {
 public:
  Coefficients at(const Tensor& t) const override;
};

/// a = exp(-t^2 (beta_end - beta_start)/4 - t beta_start/2), b = sqrt(1-a^2): the
/// variance-preserving diffusion. Its end t = 1 keeps a share a(1) = 0.0066 of the numerator, and
/// its speed is infinite at t = 0.
class VpsdeBridge final : public Bridge {
 public:
  VpsdeBridge(double beta_start, double beta_end);
  Coefficients at(const Tensor& t) const override;
  Interval interval() const override { return {1e-5, 1}; }

 private:
  double beta_start_, beta_end_;
};

}  // namespace dre
