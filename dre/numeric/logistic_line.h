/// Recalibration of scores f that tell two samples apart: the line a + b f whose logistic loss as
/// log-odds of sample 0 against sample 1, each counting one half, is least. Scores that are too
/// timid (early stopping) or too bold (noise) get the scale that the rows themselves ask for.
#pragma once

#include <torch/types.h>

#include "dre/base/context.h"

namespace dre {

/// Scores of two samples with the rows' weights; weights may be undefined. [n0] and [n1], float64.
struct TwoScores {
  Tensor f0, weight0, f1, weight1;
};

struct LogisticLine {
  double intercept = 0, slope = 1;
  Tensor inverse_information = {};  ///< [2, 2]; undefined for a line that was not fitted

  Tensor operator()(const Tensor& f) const { return intercept + slope * f; }

  /// How much each row moves (a, b): rows of sample 0 or 1 with score f -> [n, 2].
  Tensor influence(const Tensor& f, int sample) const;
};

/// Newton's method with the prior a ~ N(0,1), b ~ N(1,1), which decides only where the scores say
/// nothing.
LogisticLine fit_logistic_line(const TwoScores& scores);

}  // namespace dre
