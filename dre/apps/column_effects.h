/// What differs, column by column: on its own, and in the eyes of the joint model.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "dre/apps/cross_fit.h"
#include "dre/data/encoding.h"

namespace dre {

/// Shares of the rows in the bins or levels of one column; each sums to 1, less what is missing of
/// a number.
struct Marginal {
  std::vector<double> edges;        ///< of a number's bins, one more than bins; empty for levels
  std::vector<std::string> levels;  ///< of a category
  std::vector<double> numerator, denominator, reweighted;  ///< the last: denominator times r
};

struct ColumnEffect {
  std::string name;
  std::string kind;  ///< "number", "date" or "category"
  /// Largest difference of the distribution functions (Kolmogorov-Smirnov) of a number, to which
  /// missing is a value below all others; total variation of a category: 0 to 1.
  double distance = 0;
  double distance_reweighted = 0;  ///< the same after the denominator's rows got their weights
  double shift = 0;  ///< difference of means in pooled standard deviations; NaN for categories
  double shift_reweighted = 0;
  double missing_numerator = 0, missing_denominator = 0;  ///< shares of a number's rows
  /// How much of the Jensen-Shannon divergence, in nats, the joint model loses when the values of
  /// this column are shuffled among all rows: what only this column tells it.
  double joint = 0;
  Marginal marginal;
};

struct EffectOptions {
  int64_t rows = 10'000;  ///< a side, for the joint effects and the marginals
};

/// `log_weight`: [n1], recalibrated log-ratios of the denominator rows. Sorted by joint effect.
std::vector<ColumnEffect> column_effects(const Samples& numerator, const Samples& denominator,
                                         const Encoding& encoding, const CrossFit& rated,
                                         const Tensor& log_weight, at::Generator& generator,
                                         const EffectOptions& options = {});

/// An array of objects, without the marginals; NaN becomes null.
nlohmann::json to_json(const std::vector<ColumnEffect>& effects);

}  // namespace dre
