/// A table whose rows belong to two sides: each side as a frame of its own.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "dre/data/frame.h"

namespace dre {

/// Gathers blocks of rows by the value of one column, which has two values and is in neither frame.
/// Columns have one kind for both values; rows are sampled for each value apart, so that those of a
/// rare one are not thinned out by those of the other.
class FramesByValue final {
 public:
  /// `column` is one of `columns`.
  FramesByValue(std::string file, std::vector<std::string> columns, const std::string& column,
                const FrameOptions& options);

  /// A block whose words were kept. Data errors: a missing value, a third one, one that is not
  /// UTF-8.
  void add(const Table& block);

  /// By value, number or text; "1.0" and "1" are the same. Data errors: fewer than two, and those
  /// of FrameBuilder.
  std::map<std::string, Frame> finish() &&;

 private:
  size_t part_of(double number);
  size_t part_of(const std::string& value);
  std::string where() const;

  std::string file_;
  std::vector<std::string> columns_;
  size_t by_;  ///< place of the column
  FrameBuilder builder_;
  std::vector<std::string> values_;  ///< by the number of their part
  int64_t file_row_ = 0;             ///< that is looked at, from 1
};

}  // namespace dre
