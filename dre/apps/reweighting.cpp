#include "dre/apps/reweighting.h"

#include <cmath>

#include "dre/apps/cross_fit.h"
#include "dre/base/error.h"
#include "dre/data/basis.h"
#include "dre/data/split.h"
#include "dre/numeric/statistics.h"

namespace dre {

std::optional<double> auc_after_reweighting(const Samples& numerator, const Samples& denominator,
                                            const Tensor& log_ratio,
                                            const std::vector<std::string>& names,
                                            FitOptions options, int64_t fit_rows,
                                            Progress& progress) {
  Context context;
  context.seed = static_cast<uint64_t>(options.seed);
  const Tensor weight = (log_ratio - log_ratio.max()).exp() * denominator.weights();
  const Samples reweighted = make_samples(denominator.x, weight, "the denominator");
  auto generator = context.generator("fresh classifier");
  const Split top = split(numerator, 0.3, generator);
  const Split bottom = split(reweighted, 0.3, generator);
  const double needed = 2.0 * static_cast<double>(rows_needed(reweighted.columns()));
  for (const Samples& part : {top.train, top.held_out, bottom.train, bottom.held_out})
    if (effective_size(part) < needed) return NAN;
  options.method = "nce";
  options.seed += 2000;
  const FitResult result =
      fit(sampled(top.train, fit_rows, generator), sampled(bottom.train, fit_rows, generator),
          names, options, progress);
  if (result.interrupted) return {};
  const auto rate = [&](const Samples& side) {
    return result.estimator.log_ratio(side.x).log_ratio;
  };
  return auc(rate(top.held_out), rate(bottom.held_out), top.held_out.weights(),
             bottom.held_out.weights());
}

bool still_different(double auc) { return auc > 0.6; }

std::vector<Warning> judge_reweighting(double auc) {
  if (still_different(auc))
    return {{"poor-reweighting", text("after reweighting a fresh classifier still tells the sides "
                                      "apart (AUC ",
                                      std::round(auc * 1000) / 1000, ")")}};
  if (std::isnan(auc))
    return {{"no-reweighting", "too few rows are left, after weighting, to test the reweighting"}};
  return {};
}

}  // namespace dre
