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
class OneSidedVelocityObjective final : public Objective {
 public:
  explicit OneSidedVelocityObjective(const OneSidedVelocityScore& score);
  Terms terms(const Batch& batch, const Tensor& t, at::Generator& generator) const override;
  Interval interval() const override { return open_interval(score_.bridge()); }

 private:
  const OneSidedVelocityScore& score_;
};

}  // namespace dre
