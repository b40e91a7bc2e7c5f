/// What models say of rows that they have not seen, and how much of that is believed.
#pragma once

#include "dre/apps/fit.h"
#include "dre/numeric/logistic_line.h"
#include "dre/ratio/believed.h"

namespace dre {

/// By the model's reference alone, and with all that its members learned. [n] each, float64
struct Opinions {
  Tensor reference, learned;

  static Opinions empty(int64_t rows);
  void put(const Tensor& rows, const Opinions& about_them);

  /// The learned deviation counts by its share.
  Tensor mixed(double share) const { return reference + share * (learned - reference); }
};

/// raw: [n, columns]. A model without a reference has its learned opinion only.
Opinions opinions(const Estimator& estimator, const Tensor& raw);

/// What the rows of both sides do not refute of what is said of them.
struct BelievedOpinions {
  BelievedRange reference, learned;

  Opinions operator()(const Opinions& all) const {
    return {reference(all.reference), learned(all.learned)};
  }
};

BelievedOpinions believed_opinions(const Opinions& numerator, const Tensor& weight0,
                                   const Opinions& denominator, const Tensor& weight1);

/// The share in [0, 1] of the learned deviation with the least logistic loss on rows that the
/// models have not seen. The rows of all folds decide together: a fold's own held-out rows are
/// few, and with the reference in one fold and the network in the next the folds would not agree on
/// what they measure. `otherwise` where fewer than 100 rows of a side and fewer than a quarter have
/// a say: far apart the loss decides nothing.
double learned_share(const Opinions& numerator, const Tensor& weight0, const Opinions& denominator,
                     const Tensor& weight1, double otherwise);

/// Both sides, as far as they are believed, mixed with the share that they prefer themselves.
TwoScores best_mix(const Opinions& numerator, const Tensor& weight0, const Opinions& denominator,
                   const Tensor& weight1, double otherwise);

/// The weight of what a fit learned, as it decided for itself.
double kept_weight(const FitResult& fit);

/// Gives what was learned this weight in all: to the members that the fit kept, or, where it kept
/// none, to all alike.
void set_share(Estimator& estimator, double share);

}  // namespace dre
