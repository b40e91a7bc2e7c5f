/// The result of dre weights as a page: what the weights are worth, their tail, and the closure
/// test, the numerator against the reweighted denominator column by column. Only summaries go in,
/// never rows.
#pragma once

#include "dre/apps/weights.h"
#include "dre/report/page.h"

namespace dre::report {

Page weights_page(const WeightsResult& result);

}  // namespace dre::report
