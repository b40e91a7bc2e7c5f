/// One side of a ratio: rows of numbers, each with a weight.
#pragma once

#include <torch/types.h>

#include <string>

#include "dre/base/context.h"

namespace dre {

struct Samples {
  Tensor x;       ///< [n, d], finite
  Tensor weight;  ///< [n], float64, mean 1; undefined: all ones

  int64_t rows() const { return x.size(0); }
  int64_t columns() const { return x.size(1); }

  /// [n], float64, on the CPU.
  Tensor column(int64_t index) const;

  /// [n], float64; ones where `weight` is undefined.
  Tensor weights() const;

  /// Rows in the context's precision and on its device; weights stay what and where they are.
  Samples to(const Context& context) const { return {x.to(context.options()), weight}; }

  /// The given rows, their weights brought back to mean 1. rows: [m], int64.
  Samples take(const Tensor& rows) const;

  /// Only the rows whose weight is positive: a row of weight 0 has no say in any statistic.
  Samples positive() const;
};

/// Checked construction. x: [n, d], n and d at least 1, floating point, finite and below 1e150 in
/// size, so that squares stay finite; weight: [n] or undefined, finite, not negative, not all zero,
/// of any scale. Equal weights become undefined. `what` names the side in messages: "numerator".
Samples make_samples(const Tensor& x, const Tensor& weight = {},
                     const std::string& what = "samples");

/// The same where and as precise as files are read: on the host, in float64.
Samples as_read(const Samples& samples);

/// Kish's effective number of rows, (Σw)² / Σw²: what the variance of a weighted mean sees.
double effective_size(const Samples& samples);

}  // namespace dre
