#include "dre/apps/weights.h"

#include <algorithm>
#include <cmath>

#include "dre/apps/divergence.h"
#include "dre/apps/support.h"
#include "dre/base/error.h"
#include "dre/numeric/pareto.h"
#include "dre/numeric/statistics.h"

namespace dre {
namespace {

/// Rows that do not count, with a weight of 0, stay as they are.
Tensor smoothed(const Tensor& log_weight, const Tensor& row_weight) {
  const Tensor rows = (row_weight > 0).nonzero().squeeze(1);
  if (rows.size(0) < rows_for_tail) return log_weight;
  const Tensor count = row_weight.index_select(0, rows).log();
  const TailFit tail = fit_tail(log_weight.index_select(0, rows) + count);
  return std::isnan(tail.k) ? log_weight : log_weight.index_copy(0, rows, tail.smoothed - count);
}

/// The share of the numerator's rows that have no counterpart. log_ratio: at these rows.
double out_of_reach(const Tensor& log_ratio, const Sides& sides) {
  const double share = share_outside(log_ratio, sides.numerator, sides.denominator, sides.encoding);
  return with_own_levels({share, 0}, sides.own_levels).numerator_outside;
}

std::vector<Warning> judge_reach(double outside) {
  if (outside <= Support::noticed) return {};
  return {{"little-support", text(std::round(outside * 1000) / 10,
                                  " % of the numerator's rows lie where the denominator has none: "
                                  "no weights make its rows stand for them")}};
}

/// From different rows to those of the file.
void spread(const Copies& copies, WeightsResult& out) {
  out.weight = out.weight.index_select(0, copies.like) * copies.share;
  out.log_ratio = out.log_ratio.index_select(0, copies.like);
  out.fold = out.fold.index_select(0, copies.like);
}

}  // namespace

void WeightsOptions::visit(OptionVisitor& v) {
  cross_fit.visit(v);
  v("normalize", normalize, {"mean1", "sum1", "none"},
    "scale of what is written, ratio times the row's own weight: to mean or sum 1, after each fold "
    "apart was brought to a mean ratio of 1, as models differ in scale; none takes the ratio as "
    "estimated and the weight as it stands in the file");
  v("smooth", smooth, "replace the largest weights by those of the fitted Pareto tail");
  fit.visit(v);
}

Tensor normalised_in_folds(const Tensor& log_weight, const Tensor& fold, const Tensor& row_weight) {
  Tensor out = log_weight.clone();
  for (int64_t k = 0; k <= fold.max().item<int64_t>(); ++k) {
    const Tensor rows = (fold == k).nonzero().squeeze(1);
    if (rows.size(0) == 0) continue;
    const Tensor own = log_weight.index_select(0, rows);
    const Tensor weight = row_weight.index_select(0, rows);
    if (weight.sum().item<double>() > 0) out.index_copy_(0, rows, own - log_mean_exp(own, weight));
  }
  return out;
}

WeightsResult importance_weights(const Sides& sides, const WeightsOptions& options,
                                 Progress& progress) {
  validate(options);
  const CrossFit rated = cross_fit(sides.numerator, sides.denominator, sides.names,
                                   options.cross_fit, options.fit, progress);
  WeightsResult out;
  out.interrupted = rated.interrupted;
  if (out.interrupted) return out;
  const at::NoGradGuard no_grad;
  const TwoScores f{rated.numerator.log_ratio, sides.numerator.weight, rated.denominator.log_ratio,
                    sides.denominator.weight};
  check_finite_ratios(f);
  const LogisticLine line = calibrate(f);
  const Tensor row_weight = sides.denominator.weights();
  out.log_ratio = line(f.f1);
  out.fold = rated.denominator.fold;
  Tensor log_weight = out.log_ratio;
  if (options.normalize != "none")
    log_weight = normalised_in_folds(log_weight, out.fold, row_weight);
  if (options.smooth) log_weight = smoothed(log_weight, row_weight);
  if (options.normalize != "none") log_weight = log_weight - log_mean_exp(log_weight, row_weight);
  out.weight = (log_weight.exp() * row_weight).masked_fill(row_weight == 0, 0);
  out.how = text("out of fold, ", options.smooth ? "Pareto-smoothed" : "raw",
                 sides.denominator_has_weights
                     ? text(", times ", sides.description.value("weight_column", "their own"))
                     : "",
                 ", normalize ", options.normalize);
  const Tensor some = row_weight > 0;
  out.check = check_weights(out.log_ratio.masked_select(some), row_weight.masked_select(some),
                            weighted_mean(line(f.f0), sides.numerator.weights()));
  out.check.effective_rows = effective_sample_size(out.weight);
  const double outside = out_of_reach(line(f.f0), sides);
  out.check.least_mean = reached(outside);
  auto generator =
      Context{torch::kCPU, torch::kFloat32, static_cast<uint64_t>(options.fit.seed)}.generator(
          "column effects");
  out.columns = column_effects(sides.numerator, sides.denominator, sides.encoding, rated,
                               log_weight, generator);
  out.largest_weights = largest_weights(log_weight, row_weight);
  if (sides.denominator_copies) spread(*sides.denominator_copies, out);
  if (options.normalize == "none") out.weight *= sides.denominator_weight;
  if (options.normalize == "mean1") out.weight /= out.weight.mean();
  if (options.normalize == "sum1") out.weight /= out.weight.sum();
  out.data = sides.description;
  out.warnings = sides.warnings;
  for (const auto& more :
       {judge_ratios(rated), judge_weights(out.check, "r", "denominator"), judge_reach(outside)})
    out.warnings.insert(out.warnings.end(), more.begin(), more.end());
  return out;
}

nlohmann::json to_json(const WeightsResult& result) {
  check(!result.interrupted, "the weights were stopped before their end: there are none");
  return {{"schema", "dre-weights"},
          {"schema_version", 1},
          {"direction", "numerator / denominator"},
          {"how", result.how},
          {"data", result.data},
          {"weights", to_json(result.check)},
          {"columns", to_json(result.columns)},
          {"warnings", warnings_json(result.warnings)}};
}

}  // namespace dre
