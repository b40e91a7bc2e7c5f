/// Scores whose network speaks about the time score directly.
#pragma once

#include "dre/score/score.h"

namespace dre {

/// s = s_G + network(x, t), one output.
class ScalarScore final : public TimeScore {
 public:
  explicit ScalarScore(ScoreParts parts) : Score(std::move(parts)) {}
  Dual time_residual(const Dual& x, const Dual& t) const override;
};

/// s = sum_i v_i, v = s_G,i + network(x, t), one output a coordinate.
class CoordinateScore final : public VectorTimeScore {
 public:
  explicit CoordinateScore(ScoreParts parts) : Score(std::move(parts)) {}
  Dual time_residual(const Dual& x, const Dual& t) const override;
  Tensor coordinate_scores(const Tensor& x, const Tensor& t) const override;
};

/// Time score and data score from one network with 1 + d outputs.
class JointScore final : public TimeScore, public DataScore {
 public:
  explicit JointScore(ScoreParts parts) : Score(std::move(parts)) {}
  Dual time_residual(const Dual& x, const Dual& t) const override;
  Dual data_score(const Dual& x, const Dual& t) const override;

  /// Both, reference included, from one pass through the network.
  struct Both {
    Dual time;  ///< [n]
    Dual data;  ///< [n, d]
  };
  Both both(const Dual& x, const Dual& t) const;
};

}  // namespace dre
