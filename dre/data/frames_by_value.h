/// A table whose rows belong to two sides: each side as a frame of its own.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "dre/data/frame.h"

namespace dre {

/// Gathers blocks of rows by the value of one column, which has two values and is in neither frame.
/// Columns are typed, and rows sampled, for each value apart: those of a rare value are not thinned
/// out by those of the other.
class FramesByValue final {
 public:
  /// `column` is one of `columns`.
  FramesByValue(std::string file, std::vector<std::string> columns, const std::string& column,
                const FrameOptions& options);

  /// A block whose words were kept. Data errors: a missing value, a third one.
  void add(const Table& block);

  /// By value, number or text; "1.0" and "1" are the same. Data error: fewer than two.
  std::map<std::string, Frame> finish() &&;

 private:
  size_t place_of(double number, int64_t file_row);
  size_t place_of(const std::string& value, int64_t file_row);
  std::string where(int64_t file_row) const;

  std::string file_;
  std::vector<std::string> columns_;
  size_t by_ = 0;  ///< place of the column
  FrameOptions options_;
  std::vector<std::string> values_;
  std::vector<FrameBuilder> builders_;  ///< by place in `values_`
};

}  // namespace dre
