/// From raw numeric columns to columns of standard scale: one increasing map a column, fitted on
/// both sides pooled.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "dre/base/options.h"
#include "dre/data/column_map.h"
#include "dre/data/samples.h"

namespace dre {

struct ColumnTransformOptions {
  std::string transform = "auto";
  std::vector<std::string> single = {};

  static Names kinds() { return {"auto", "zscore", "rank", "asinh"}; }

  void visit(OptionVisitor& v) {
    v("transform", transform, kinds(),
      "map of every numeric column; auto ranks heavy-tailed and skewed ones, where folds are rated "
      "those with outliers, too, and z-scores the rest");
    v("transform-columns", single, "maps of single columns: income=asinh,age=rank");
  }

  /// The kind that is asked for of a column.
  std::string of(const std::string& column) const;

  /// Usage error where `single` is not a list of columns among `names` and kinds.
  void check_columns(const std::vector<std::string>& names) const;
};

/// Asks for "rank" where the choice is left to the rows and the pool has values beyond five
/// interquartile ranges from its middle: a fit to rows without these would not expect them, and a
/// z-score of theirs has no bound.
ColumnTransformOptions with_outliers_ranked(ColumnTransformOptions options,
                                            const Samples& numerator, const Samples& denominator,
                                            const std::vector<std::string>& names);

/// Columns in which a side has one value only, by place: a column of a file may have the name of an
/// indicator.
struct ConstantColumns {
  std::vector<size_t> constant;   ///< the same value everywhere: drop with a warning
  std::vector<size_t> others;     ///< all but these
  std::vector<size_t> one_sided;  ///< one value on one side only: a support warning
  std::vector<size_t> separated;  ///< one value a side, but not the same: log r is infinite
};

/// Rows of weight 0 do not count.
ConstantColumns constant_columns(const Samples& numerator, const Samples& denominator);

/// The fitted maps. Computes in float64 throughout.
class ColumnTransforms final {
 public:
  /// "auto" ranks a column whose excess kurtosis exceeds 3 or whose |skewness| exceeds 1 on either
  /// side, and z-scores the others. The moments are those of each side, never of the pool: two
  /// separated normal sides must not be ranked. Columns with fewer than 32 distinct values are
  /// z-scored whatever was asked for: a curve through atoms has nothing to straighten.
  static ColumnTransforms fit(const Samples& numerator, const Samples& denominator,
                              std::vector<std::string> names,
                              const ColumnTransformOptions& options = {});

  /// raw: [n, d], any floating type and device -> [n, d], float64, same device.
  Tensor forward(const Tensor& raw) const;

  /// z: [n, d] -> [n, d], float64.
  Tensor inverse(const Tensor& z) const;

  int64_t columns() const { return static_cast<int64_t>(names_.size()); }
  const std::vector<std::string>& names() const { return names_; }

  /// "zscore", "rank" or "asinh" for each column.
  const std::vector<std::string>& kinds() const { return kinds_; }

  /// What a file keeps: "transform.parameters", and names, kinds and sizes.
  NamedTensors tensors() const;
  nlohmann::json description() const;
  static ColumnTransforms load(const NamedTensors& tensors, const nlohmann::json& description);

 private:
  using Direction = Tensor (ColumnMap::*)(const Tensor&) const;
  Tensor apply(const Tensor& in, Direction direction) const;

  std::vector<std::string> names_, kinds_;
  std::vector<ColumnMapPtr> maps_;
};

}  // namespace dre
