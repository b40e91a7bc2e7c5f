/// Classifier scores: the log-ratio comes out of logits, without an integral.
#pragma once

#include "dre/score/score.h"

namespace dre {

/// One logistic classifier between the two sides (NCE): log r = reference + network(x).
class ClassifierScore final : public DirectRatio {
 public:
  explicit ClassifierScore(ScoreParts parts) : Score(std::move(parts)) {}
  Tensor ratio_residual(const Tensor& x) const override;
};

/// Times 0 = t_0 < ... < t_(K-1) = 1 on the bridge at which points are told apart, equally spaced;
/// [K] in float64.
Tensor waymark_times(const Bridge& bridge, int64_t count);

/// Telescoping ratio (TRE): one logit for each pair of neighbouring waymarks, log r is their sum.
class TelescopeScore final : public DirectRatio {
 public:
  /// The network has one output a pair, so outputs + 1 waymarks, equally spaced where no times are
  /// given.
  explicit TelescopeScore(ScoreParts parts, const Tensor& times = {});
  Tensor ratio_residual(const Tensor& x) const override;

  /// Log-ratio of waymark k over waymark k + 1 for every k, reference included: [n, d] -> [n,
  /// pairs].
  Tensor logits(const Tensor& x) const;
  const Tensor& times() const { return times_; }

 private:
  Tensor times_;
};

/// Which-time classifier: "from which of K times on the bridge is x?", logits log N(x; m_k, V_k) +
/// network_k(x); log r is the difference between the first logit and the last.
class WhichTimeScore final : public DirectRatio {
 public:
  explicit WhichTimeScore(ScoreParts parts);
  Tensor ratio_residual(const Tensor& x) const override;

  /// Log-densities of x at all times, up to a common constant: [n, d] -> [n, K].
  Tensor logits(const Tensor& x) const;
  const Tensor& times() const { return times_; }

 private:
  Tensor times_;
};

/// The same with a continuum of times: log p_t(x) = log N(x; m_t, V_t) + f(x, t) up to a constant,
/// f(x, t) = sum_k h_k(x) T_k(2t - 1) with Chebyshev polynomials T_1 ... T_K. Offers the time score
/// d/dt as well.
class ContinuousWhichTimeScore final : public TimeScore, public DirectRatio {
 public:
  explicit ContinuousWhichTimeScore(ScoreParts parts) : Score(std::move(parts)) {}
  Dual time_residual(const Dual& x, const Dual& t) const override;
  Tensor ratio_residual(const Tensor& x) const override;

  /// Log-densities of each x at each of the times: x: [n, d], t: [K] -> [n, K].
  Tensor logits(const Tensor& x, const Tensor& t) const;
};

}  // namespace dre
