#include "dre/apps/fit_diagnostics.h"

#include <cmath>

#include "dre/apps/cross_fit.h"
#include "dre/apps/reweighting.h"

namespace dre {

Diagnostics diagnose_fit(const FitResult& result, const Sides& sides, const FitOptions& options,
                         Progress& progress) {
  const Estimator& estimator = result.estimator;
  const Samples top = sides.numerator.take(result.held_out_numerator).positive();
  const Samples bottom = sides.denominator.take(result.held_out_denominator).positive();
  Diagnostics out = diagnose(estimator, top, bottom);
  const Tensor at_top = estimator.log_ratio(top.x).log_ratio;
  const Tensor at_bottom = estimator.log_ratio(bottom.x).log_ratio;
  out.support = Support{share_outside(at_top, top, sides.denominator, sides.encoding),
                        share_outside(-at_bottom, bottom, sides.numerator, sides.encoding)};
  FitOptions fresh = quick_fit();
  fresh.seed = options.seed;
  fresh.device = options.device;
  fresh.columns = options.columns;
  out.reweighted_auc = auc_after_reweighting(top, bottom, at_bottom, sides.names, fresh,
                                             CrossFitOptions().fit_rows, progress);
  std::vector<Warning> more = judge_support(*out.support);
  // Too few rows to ask are no fault of a fit.
  if (out.reweighted_auc && !std::isnan(*out.reweighted_auc))
    for (const Warning& warning : judge_reweighting(*out.reweighted_auc)) more.push_back(warning);
  out.warnings.insert(out.warnings.end(), more.begin(), more.end());
  return out;
}

}  // namespace dre
