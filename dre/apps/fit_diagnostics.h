/// Everything that a finished fit tells about itself, on the rows that it held out.
#pragma once

#include "dre/apps/diagnostics.h"
#include "dre/apps/fit.h"
#include "dre/apps/sides.h"

namespace dre {

/// diagnose(), the shares outside of the other side's support (counted among all rows), and whether
/// a fresh classifier tells the numerator from the reweighted denominator; an interruption leaves
/// that out. KL is NaN where rows of one side have levels, point masses or broken rules that the
/// other never has. `options`: of the fit.
Diagnostics diagnose_fit(const FitResult& result, const Sides& sides, const FitOptions& options,
                         Progress& progress);

}  // namespace dre
