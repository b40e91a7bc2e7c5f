/// Velocity moments: plain regressions whose solutions give time score, data score, flow field and
/// divergence at once; nothing is differentiated.
#pragma once

#include "dre/objective/conditional.h"
#include "dre/objective/objective.h"
#include "dre/score/velocity_score.h"

namespace dre {

/// Two-sided, three heads: eps on -sigma g, the drift on its conditional mean, and tau_i + g_i u^_i
/// (gradient stopped) on c_i, each weighted to unit variance.
class VelocityObjective final : public Objective {
 public:
  VelocityObjective(const VelocityScore& score, SecondMoments moments);
  Terms terms(const Batch& batch, const Tensor& t, at::Generator& generator) const override;
  Interval interval() const override { return open_interval(score_.bridge()); }

 private:
  const VelocityScore& score_;
  SecondMoments moments_;
};

/// One-sided, two heads: u on u^ and the squared error (gradient stopped) on the variance.
///
/// That squared error holds the velocity's own error, too, and speaks only of points where the
/// bridge is at t, while the ratio integrates over all times at one point of the data. With a
/// `probe_weight` the variance at such points, for a share of the rows, is held against the
/// divergence: by random signs as probes of cos(theta) (w_i - 1) = -sin(theta) du^_i/dx_i (gradient
/// stopped at u^).
class OneSidedVelocityObjective final : public Objective {
 public:
  explicit OneSidedVelocityObjective(const OneSidedVelocityScore& score, double probe_weight = 0);
  Terms terms(const Batch& batch, const Tensor& t, at::Generator& generator) const override;
  Interval interval() const override { return open_interval(score_.bridge()); }

 private:
  /// Of one row, drawn from each few neighbours, for all of them; zero elsewhere. Neighbours
  /// because training draws times in order. [n]
  Tensor probe_loss(const Tensor& x0, const Tensor& t, at::Generator& generator) const;

  /// What the variance misses of the divergence, coordinate by coordinate, and on average over
  /// probes.
  Tensor probed_error(const Tensor& x, const Tensor& t, at::Generator& generator) const;

  const OneSidedVelocityScore& score_;
  double probe_weight_;
};

}  // namespace dre
