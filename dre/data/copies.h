/// Exact copies of rows, as a table has them that was repeated, oversampled, or joined once too
/// often. Independent rows of continuous columns are never equal: copies tell nothing new, and a
/// row that is judged by what was learned from its own copy is not judged.
#pragma once

#include <torch/types.h>

#include <optional>
#include <string>
#include <vector>

#include "dre/data/frame.h"

namespace dre {

using torch::Tensor;

struct Copies {
  std::vector<int64_t> kept;  ///< the m rows that are no copies of rows before them
  Tensor like;                ///< [n], int64: which of these a row is equal to
  Tensor weight;              ///< [m], float64: of all rows that are
  Tensor share;               ///< [n], float64: a row's part of that weight

  int64_t rows() const { return like.size(0); }
  int64_t different() const { return weight.size(0); }
};

struct Repeats {
  std::optional<Copies> copies;
  /// The largest number of which the counts of all different rows are multiples, as in a table that
  /// was repeated, in a design, or by quota; 1 where fewer than 30 rows differ, which chance can
  /// do.
  int64_t times = 1;
};

/// Copies are equal in all these columns, and never in the other table: rows that recur on both
/// sides, or are a twentieth of one, are values, as those of customers without any purchase, or of
/// a product with its price and mass. None where one in ten repeated rows or more are values, where
/// fewer than 1 in 100 different rows have copies, or where rows may well be equal by chance. Two
/// or more columns of numbers must tell the different rows apart, each of them nearly all but those
/// with its most frequent value; independent columns in which values repeat do not, for together
/// they have many more values than each by itself. Where all rows are there several times, one such
/// column does, unless it has dates or a range of few places, as ages in years have: a design may
/// have chosen them. A random sample of the rows no longer shows that.
///
/// weight: [n], undefined: all ones. other: of the same columns; none: nothing is known of it.
Repeats find_repeats(const Frame& table, const std::vector<std::string>& columns,
                     const Tensor& weight = {}, const Frame* other = nullptr);

}  // namespace dre
