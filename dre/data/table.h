/// Rows of numbers with named columns, as read from a file.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "dre/base/context.h"

namespace dre {

/// A cell that is no number.
struct Word {
  int64_t row;  ///< of the table, from 0
  std::string text;
  bool infinite = false;  ///< a number, but too large, or "inf"
};

struct Table {
  std::vector<std::string> columns;  ///< names of the numeric columns
  Tensor values;                     ///< [rows, columns], float64, CPU; NaN is a missing value
  std::map<std::string, std::vector<std::string>> texts;  ///< asked for as text; "" is missing
  /// Where the reader keeps words: those of each column of `values`, which is NaN there.
  std::vector<std::vector<Word>> words = {};

  int64_t rows() const;
};

/// The named columns in the given order -> [rows, names]; a data error lists those that are missing
/// and those that exist. The order of the columns in the file does not matter.
Tensor select_columns(const Table& table, const std::vector<std::string>& names);

}  // namespace dre
