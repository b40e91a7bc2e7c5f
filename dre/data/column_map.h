/// Strictly increasing maps of one column to a standard scale. log r does not change under them:
/// both sides go through the same map.
#pragma once

#include <memory>

#include "dre/base/named_tensors.h"
#include "dre/base/names.h"

namespace dre {

/// One column of both sides together; each side has half of the total weight, however many rows it
/// has, so that the map does not depend on which side is larger.
struct PooledColumn {
  Tensor x;       ///< [n], float64
  Tensor weight;  ///< [n], float64, positive, sum 1
};

/// The pooled distribution without ties.
struct Levels {
  Tensor value;  ///< [m], float64, strictly ascending
  Tensor level;  ///< [m]: the mass below the value plus half of the mass at it
};

Levels levels(const PooledColumn& column);

class ColumnMap {
 public:
  virtual ~ColumnMap() = default;

  /// x: [n], float64 -> [n]
  virtual Tensor forward(const Tensor& x) const = 0;

  /// z: [n], float64 -> [n]
  virtual Tensor inverse(const Tensor& z) const = 0;

  /// All that `load` needs: [k], float64, host.
  virtual Tensor parameters() const = 0;
};

using ColumnMapPtr = std::shared_ptr<const ColumnMap>;

struct ColumnMapMaker {
  ColumnMapPtr (*fit)(const PooledColumn&);
  ColumnMapPtr (*load)(const Tensor& parameters);
};

/// zscore: (x - m) / s with the pooled mean and standard deviation.
/// rank:   pooled rank to normal: the curve through (value, Φ⁻¹(level)) at no more than 2001 knots,
///         straight between them. Beyond the outer knots it leaves with the mean slope of the outer
///         half unit of z and bends towards a bound 2 further out (2u / (2+u) where a straight line
///         has u): outliers cannot throw a Gaussian reference, and the map stays invertible. z at
///         or past the bound has no raw value; its inverse is infinite.
/// asinh:  asinh((x - median) / s), s the interquartile range over that of N(0,1), then z-scored.
const std::vector<Named<ColumnMapMaker>>& column_maps();

}  // namespace dre
