/// Score matching over time: the paper's objectives, with the appendix's factors.
#pragma once

#include "dre/objective/objective.h"
#include "dre/objective/time_weight.h"
#include "dre/score/time_scores.h"

namespace dre {

/// How E[ l s d/dt log p_t ], which no one can compute, becomes an average over samples.
enum class Matching {
  /// The paper's: by parts in time, - E[ l ds/dt + l' s ] - E_0[ l s ] + E_1[ l s ].
  boundary,
  /// Along the paths of the samples, E[ l (grad s).(dx_t/dt) ]: the end points of a path differ by
  /// the integral of its total derivative, so the boundary terms go. Half the work for about the
  /// same noise. Where dx_t/dt is infinite at an end, times are drawn closer to the ends.
  pathwise,
};

/// Time score matching,
/// L = E[ l s^2 + 2 l ds/dt + 2 l' s ] + 2 E_0[ l s ] - 2 E_1[ l s ],  l = lambda(t),
/// or pathwise L = E[ l s^2 - 2 l (grad s).(dx_t/dt) ].
class TimeObjective final : public Objective {
 public:
  TimeObjective(const TimeScore& score, TimeWeight weight, Matching matching);
  Terms terms(const Batch& batch, const Tensor& t, at::Generator& generator) const override;
  Interval interval() const override { return score_.bridge().interval(); }

 private:
  Terms pathwise(const Batch& batch, const Tensor& u, at::Generator& generator) const;
  Terms by_parts(const Batch& batch, const Tensor& t, at::Generator& generator) const;

  const TimeScore& score_;
  TimeWeight weight_;
  Matching matching_;
};

/// Time score and data score together,
/// L = E[ l |s_x|^2 / 2 + l v'(grad s_x)v + l s_t^2 / 2 + l ds_t/dt + l' s_t ] + E_0[ l s_t ] -
/// E_1[ l s_t ], where pathwise - l (grad s_t).(dx_t/dt) stands for all that follows l s_t^2 / 2.
/// All terms of s_t may have a factor: where one set of parameters makes both scores, either part
/// is enough to find them, and that of the data score is the less noisy one.
class JointObjective final : public Objective {
 public:
  enum class DataTerm {
    sliced,     ///< as above, one random direction v
    denoising,  ///< |sigma s_x + eps|^2 / 2 instead of the first two terms, where the bridge has
                ///< noise
  };

  JointObjective(const JointScore& score, TimeWeight weight, DataTerm data_term, Matching matching,
                 double time_factor = 1);
  Terms terms(const Batch& batch, const Tensor& t, at::Generator& generator) const override;
  Interval interval() const override { return score_.bridge().interval(); }

 private:
  const JointScore& score_;
  TimeWeight weight_;
  DataTerm data_term_;
  Matching matching_;
  double time_factor_;
};

}  // namespace dre
