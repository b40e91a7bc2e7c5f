#include "dre/apps/fit_diagnostics.h"

#include <algorithm>
#include <cmath>

#include "dre/apps/cross_fit.h"
#include "dre/apps/reweighting.h"
#include "dre/numeric/statistics.h"

namespace dre {
namespace {

/// Log-ratios are of the rows held out; for counting, which asks no model, all rows have a say.
double outside(const Tensor& log_ratio, const Samples& held_out, const Samples& side,
               const Samples& other, const Encoding& encoding) {
  const Tensor beyond = without_counterpart(side, other, encoding).to(torch::kFloat64);
  return std::max(share_outside(log_ratio, held_out, other, encoding),
                  as_share(weighted_mean(beyond, side.weights())));
}

/// A model would only make up how large log r is where it is infinite.
bool surely_infinite(const Samples& side, const Samples& other, const Sides& sides) {
  return has_own_levels(side, other, sides.encoding) || sides.own_levels.nothing_shared;
}

}  // namespace

Diagnostics diagnose_fit(const FitResult& result, const Sides& sides, const FitOptions& options,
                         Progress& progress) {
  const Samples top = sides.numerator.take(result.held_out_numerator).positive();
  const Samples bottom = sides.denominator.take(result.held_out_denominator).positive();
  const Estimate at_top = result.estimator.log_ratio(top.x);
  const Estimate at_bottom = result.estimator.log_ratio(bottom.x);
  const Support support = with_own_levels(
      {outside(at_top.log_ratio, top, sides.numerator, sides.denominator, sides.encoding),
       outside(-at_bottom.log_ratio, bottom, sides.denominator, sides.numerator, sides.encoding)},
      sides.own_levels);
  Diagnostics out = diagnose(result.estimator, top, at_top, bottom, at_bottom, support);
  if (surely_infinite(sides.numerator, sides.denominator, sides))
    out.kl_numerator_denominator = {NAN, NAN};
  if (surely_infinite(sides.denominator, sides.numerator, sides))
    out.kl_denominator_numerator = {NAN, NAN};
  FitOptions fresh = quick_fit();
  fresh.seed = options.seed;
  fresh.device = options.device;
  fresh.columns = options.columns;
  out.reweighted_auc = auc_after_reweighting(top, bottom, at_bottom.log_ratio, sides.names, fresh,
                                             CrossFitOptions().fit_rows, progress);
  // Too few rows to ask are no fault of a fit.
  if (out.reweighted_auc && !std::isnan(out.reweighted_auc->value))
    for (const Warning& warning : judge_reweighting(*out.reweighted_auc))
      out.warnings.push_back(warning);
  return out;
}

}  // namespace dre
