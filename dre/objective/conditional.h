/// Conditional time score matching (Yu et al. 2025): where p_t(x | x0, x1) has a density, regress
/// on its time score
///
///     tau = sum_i tau_i,  tau_i = (sigma'/sigma)(eps_i^2 - 1) + eps_i (a' x0 + b' x1)_i / sigma.
///
/// No derivative of the network and no boundary terms. The weight is lambda = 1 / Var tau_i.
#pragma once

#include "dre/objective/objective.h"
#include "dre/score/time_scores.h"

namespace dre {

/// E x0^2, E x0 E x1 and E x1^2, averaged over the coordinates: what the size of the drift a' x0 +
/// b' x1 needs.
struct SecondMoments {
  double x0x0, x0x1, x1x1;
};

SecondMoments second_moments(const GaussianEnds& ends);

/// The conditional time score of a point and the weights that bring its parts to unit variance.
struct ConditionalTarget {
  Tensor tau;           ///< tau_i, [n, d]
  Tensor weight;        ///< 1 / Var tau_i, [n, 1]
  Tensor drift_weight;  ///< 1 / E drift_i^2, [n, 1]
};

ConditionalTarget conditional_target(const BridgePoint& point, const SecondMoments& moments);

/// The bridge's interval less the ends where tau is infinite.
Interval open_interval(const Bridge& bridge);

/// L = E[ lambda (tau - s)^2 / d ].
class ConditionalObjective final : public Objective {
 public:
  ConditionalObjective(const TimeScore& score, SecondMoments moments);
  Terms terms(const Batch& batch, const Tensor& t, at::Generator& generator) const override;
  Interval interval() const override { return open_interval(score_.bridge()); }

 private:
  const TimeScore& score_;
  SecondMoments moments_;
};

/// L = E[ lambda sum_i (tau_i - v_i)^2 / d ], s = sum_i v_i: less noise a coordinate.
class ConditionalVectorObjective final : public Objective {
 public:
  ConditionalVectorObjective(const VectorTimeScore& score, SecondMoments moments);
  Terms terms(const Batch& batch, const Tensor& t, at::Generator& generator) const override;
  Interval interval() const override { return open_interval(score_.bridge()); }

 private:
  const VectorTimeScore& score_;
  SecondMoments moments_;
};

}  // namespace dre
