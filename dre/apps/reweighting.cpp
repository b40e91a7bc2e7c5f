#include "dre/apps/reweighting.h"

#include <cmath>

#include "dre/apps/cross_fit.h"
#include "dre/base/error.h"
#include "dre/data/basis.h"
#include "dre/data/split.h"
#include "dre/numeric/statistics.h"

namespace dre {
namespace {

constexpr Measured unknown{NAN, NAN};

std::optional<Measured> fresh_auc(const Split& top, const Split& bottom,
                                  const std::vector<std::string>& names, const FitOptions& options,
                                  int64_t fit_rows, at::Generator& generator, Progress& progress) {
  const FitResult result =
      fit(sampled(top.train, fit_rows, generator), sampled(bottom.train, fit_rows, generator),
          names, options, progress);
  if (result.interrupted) return {};
  const auto rate = [&](const Samples& side) {
    return result.estimator.log_ratio(side.x).log_ratio;
  };
  const Samples &judges0 = top.held_out, &judges1 = bottom.held_out;
  return Measured{auc(rate(judges0), rate(judges1), judges0.weights(), judges1.weights()),
                  auc_error(effective_size(judges0), effective_size(judges1))};
}

}  // namespace

std::optional<Measured> auc_after_reweighting(const Samples& numerator, const Samples& denominator,
                                              const Tensor& log_ratio,
                                              const std::vector<std::string>& names,
                                              FitOptions options, int64_t fit_rows,
                                              Progress& progress) {
  Context context;
  context.seed = static_cast<uint64_t>(options.seed);
  const Tensor weight = scaled_weights(log_ratio, denominator.weights());
  const Samples reweighted = make_samples(denominator.x, weight, "the denominator");
  const auto enough = [&](const Samples& part) {
    return effective_size(part) >= 2.0 * static_cast<double>(rows_needed(part.columns()));
  };
  if (!enough(numerator) || !enough(reweighted)) return unknown;  // a few rows cannot be split
  auto generator = context.generator("fresh classifier");
  const Split top = split(numerator, 0.3, generator);
  const Split bottom = split(reweighted, 0.3, generator);
  for (const Samples& part : {top.train, top.held_out, bottom.train, bottom.held_out})
    if (!enough(part)) return unknown;
  options.method = "nce";
  options.seed = later_seed(options.seed, 2000);
  try {
    return fresh_auc(top, bottom, names, options, fit_rows, generator, progress);
  } catch (const Error& error) {
    // What varies in a few rows of a table may not vary in a part of it, and a part may be too
    // small for its network. That is no reason to lose the work that is to be judged.
    if (error.kind() == Error::Kind::data || error.kind() == Error::Kind::numerical) return unknown;
    throw;
  }
}

bool still_different(const Measured& auc) {
  return auc.value > 0.6 && auc.value - 0.5 > 3 * auc.standard_error;
}

std::vector<Warning> judge_reweighting(const Measured& auc) {
  if (still_different(auc))
    return {{"poor-reweighting", text("after reweighting a fresh classifier still tells the sides "
                                      "apart (AUC ",
                                      std::round(auc.value * 1000) / 1000, ")")}};
  if (std::isnan(auc.value))
    return {{"no-reweighting", "too few rows are left, after weighting, to test the reweighting"}};
  return {};
}

}  // namespace dre
