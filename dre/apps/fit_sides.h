/// A whole fit: from two sides to an estimator that knows their columns and tells how it was made,
/// as a model file keeps it.
#pragma once

#include <vector>

#include "dre/apps/diagnostics.h"
#include "dre/apps/fit.h"
#include "dre/apps/sides.h"

namespace dre {

struct FitSidesResult {
  FitResult fit;            ///< its estimator has the encoding of the sides and a record of the fit
  Diagnostics diagnostics;  ///< on the rows that were held out
  std::vector<Warning> warnings;  ///< the sides' own first, then those of training and diagnostics
};

/// fit() and diagnose_fit(), and what both found as the estimator's record: options, data,
/// training, diagnostics, warnings, versions; nothing of the clock. An interruption of the training
/// leaves all but `fit` empty; one of the diagnostics costs a part of them only.
FitSidesResult fit_sides(const Sides& sides, const FitOptions& options, Progress& progress,
                         const Checkpointing& checkpointing = {});

}  // namespace dre
