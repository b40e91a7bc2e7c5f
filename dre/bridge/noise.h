/// Noise and one-sidedness as wrappers around any bridge.
#pragma once

#include "dre/bridge/bridge.h"

namespace dre {

/// Adds Brownian-bridge noise of scale gamma and, for data without a density, a smoothing e of both
/// ends: sigma^2 = gamma^2 t (1-t) + (a^2 + b^2) e. With e = 0 both ends are exactly numerator and
/// denominator; with e > 0 the ratio is that of the two sides with N(0, e I) noise added, which at
/// atoms (categories, exact zeros) is the ratio of their probabilities.
class NoisyBridge final : public Bridge {
 public:
  NoisyBridge(BridgePtr inner, double gamma, double smoothing = 0);
  Coefficients at(const Tensor& t) const override;
  Interval interval() const override { return inner_->interval(); }
  bool has_noise() const override { return gamma_ > 0 || smoothing_ > 0 || inner_->has_noise(); }

 private:
  BridgePtr inner_;
  double gamma_, smoothing_;
};

/// The denominator is known to be N(0, I), so x1 plays the part of eps: a x0 + sqrt(b^2 + sigma^2)
/// eps. The denominator rows of a batch are then ignored.
class OneSidedBridge final : public Bridge {
 public:
  explicit OneSidedBridge(BridgePtr inner);
  Coefficients at(const Tensor& t) const override;
  Interval interval() const override { return inner_->interval(); }
  bool has_noise() const override { return true; }

 private:
  BridgePtr inner_;
};

}  // namespace dre
