/// Classification objectives: telling the two sides, or times on the bridge, apart.
#pragma once

#include "dre/objective/objective.h"
#include "dre/score/classifiers.h"

namespace dre {

/// NCE: logistic loss of one classifier between the two sides.
class NceObjective final : public Objective {
 public:
  explicit NceObjective(const ClassifierScore& score) : score_(score) {}
  Terms terms(const Batch& batch, const Tensor& t, at::Generator& generator) const override;
  Interval interval() const override { return score_.bridge().interval(); }

 private:
  const ClassifierScore& score_;
};

/// TRE: the mean logistic loss of all neighbouring pairs of waymarks. Each (x0, x1) makes all of
/// its waymarks; as many pairs of a batch are used as keep the number of network rows at that of
/// NCE.
class TelescopeObjective final : public Objective {
 public:
  explicit TelescopeObjective(const TelescopeScore& score) : score_(score) {}
  Terms terms(const Batch& batch, const Tensor& t, at::Generator& generator) const override;
  Interval interval() const override { return score_.bridge().interval(); }

 private:
  const TelescopeScore& score_;
};

/// Cross-entropy of "from which of K times is x?" plus the logistic loss between the two ends. The
/// ends get double shares of the batch, and the shares are part of the logits, so that the logits
/// stay log-densities.
class WhichTimeObjective final : public Objective {
 public:
  explicit WhichTimeObjective(const WhichTimeScore& score) : score_(score) {}
  Terms terms(const Batch& batch, const Tensor& t, at::Generator& generator) const override;
  Interval interval() const override { return score_.bridge().interval(); }

 private:
  const WhichTimeScore& score_;
};

/// The same with both ends and `count` - 2 stratified random times, drawn anew for every batch.
class ContinuousWhichTimeObjective final : public Objective {
 public:
  ContinuousWhichTimeObjective(const ContinuousWhichTimeScore& score, int64_t count);
  Terms terms(const Batch& batch, const Tensor& t, at::Generator& generator) const override;
  Interval interval() const override { return score_.bridge().interval(); }

 private:
  const ContinuousWhichTimeScore& score_;
  int64_t count_;
};

/// Propositions 2 and 3: a classifier between p_t and p_(t+step) whose logit is step s(x, t +
/// step/2). Its samples are coupled (the same x0, x1 and noise at both times), without which its
/// noise would grow like 1/step. The loss is divided by step^2, so that its size does not depend on
/// it.
class InfinitesimalObjective final : public Objective {
 public:
  InfinitesimalObjective(const TimeScore& score, double step);
  Terms terms(const Batch& batch, const Tensor& t, at::Generator& generator) const override;
  Interval interval() const override;

 private:
  const TimeScore& score_;
  double step_;
};

}  // namespace dre
