/// Importance weights: w = r on the denominator's rows, so that they look like the numerator's.
#pragma once

#include <string>
#include <vector>

#include "dre/apps/column_effects.h"
#include "dre/apps/diagnostics.h"
#include "dre/apps/sides.h"

namespace dre {

struct WeightsOptions {
  CrossFitOptions cross_fit;
  std::string normalize = "mean1";
  bool smooth = true;
  FitOptions fit = quick_fit();

  void visit(OptionVisitor& v);
};

struct WeightsResult {
  Tensor weight;      ///< [n], of the denominator's rows in their order, times their own weights
  Tensor log_ratio;   ///< [n], by models that have not seen the row, recalibrated
  Tensor fold;        ///< [n]
  std::string how;    ///< "out of fold, Pareto-smoothed, times w, normalize mean1"
  WeightCheck check;  ///< of r as estimated; effective_rows: of the weights that are written, of
                      ///< copies together
  /// Closure: the numerator against the denominator with these weights, column by column.
  std::vector<ColumnEffect> columns;
  std::vector<double> largest_weights;  ///< as diagnostics.h has them
  std::vector<Warning> warnings;
  nlohmann::json data;       ///< description of the sides
  bool interrupted = false;  ///< then there are no weights
};

/// Out-of-fold ratios, brought to mean 1 in each fold (the models of the folds differ a little in
/// scale), then Pareto-smoothed: the largest are replaced by the expected order statistics of the
/// tail fitted to them; times the weights of the rows. normalize: "mean1" and "sum1" of that
/// product, or "none", which leaves out both means and takes the rows' weights as the file has
/// them.
WeightsResult importance_weights(const Sides& sides, const WeightsOptions& options,
                                 Progress& progress);

/// All but the weights themselves; NaN and infinity become null. A usage error where it was
/// interrupted.
nlohmann::json to_json(const WeightsResult& result);

/// log_weight, fold, row_weight: [n] -> [n]
Tensor normalised_in_folds(const Tensor& log_weight, const Tensor& fold, const Tensor& row_weight);

}  // namespace dre
