/// The result of dre compare as a page: verdict, numbers with intervals, ratios, weights, columns,
/// training. Only summaries go in, never rows.
#pragma once

#include "dre/apps/compare.h"
#include "dre/report/page.h"

namespace dre::report {

Page compare_page(const CompareResult& result);

}  // namespace dre::report
