/// Score matching over time: the paper's objectives, with the appendix's factors.
#pragma once

#include "dre/objective/objective.h"
#include "dre/objective/time_weight.h"
#include "dre/score/time_scores.h"

namespace dre {

/// Time score matching,
/// L = E[ l s^2 + 2 l ds/dt + 2 l' s ] + 2 E_0[ l s ] - 2 E_1[ l s ],  l = lambda(t).
class TimeObjective final : public Objective {
 public:
  TimeObjective(const TimeScore& score, TimeWeight weight);
  Terms terms(const Batch& batch, const Tensor& t, at::Generator& generator) const override;
  Interval interval() const override { return score_.bridge().interval(); }

 private:
  const TimeScore& score_;
  TimeWeight weight_;
};

/// Time score and data score together,
/// L = E[ l |s_x|^2 / 2 + l v'(grad s_x)v + l s_t^2 / 2 + l ds_t/dt + l' s_t ] + E_0[ l s_t ] -
/// E_1[ l s_t ].
class JointObjective final : public Objective {
 public:
  enum class DataTerm {
    sliced,     ///< as above, one random direction v
    denoising,  ///< |sigma s_x + eps|^2 / 2 instead of the first two terms, where the bridge has
                ///< noise
  };

  JointObjective(const JointScore& score, TimeWeight weight, DataTerm data_term);
  Terms terms(const Batch& batch, const Tensor& t, at::Generator& generator) const override;
  Interval interval() const override { return score_.bridge().interval(); }

 private:
  const JointScore& score_;
  TimeWeight weight_;
  DataTerm data_term_;
};

}  // namespace dre
