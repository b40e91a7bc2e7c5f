/// From typed columns to numeric ones, the same way for both sides and for rows that come later.
/// How they are chosen is in encoding_plan.h.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <unordered_map>
#include <vector>

#include "dre/data/frame.h"

namespace dre {

/// A raw column as a model knows it.
struct RawColumn {
  std::string name;
  TypedColumn::Kind kind = TypedColumn::Kind::number;
  double fill = 0;                  ///< stands for missing values of numbers and dates
  std::vector<std::string> levels;  ///< of categories, the pooled ones left out
  bool has_missing = false;         ///< a side had missing values, so they have a meaning
  bool pools = false;               ///< a side had levels that are not in `levels`
};

/// One numeric column that the raw ones give.
struct EncodedColumn {
  enum class Role { value, missing, atom, level, other };

  size_t source = 0;  ///< which raw column
  Role role = Role::value;
  std::string level;  ///< of role level
  double atom = 0;    ///< of role atom
  std::string name;   ///< "x", "x is missing", "x = 0", "city = rome", "city = (other)"
};

class Encoding final {
 public:
  Encoding() = default;

  Encoding(std::vector<RawColumn> raw, std::vector<EncodedColumn> columns);

  /// Numeric columns that go in as they are, without missing values.
  explicit Encoding(const std::vector<std::string>& names);

  std::vector<std::string> names() const;      ///< of the numeric columns
  std::vector<std::string> raw_names() const;  ///< of the raw columns that are used
  const std::vector<RawColumn>& raw() const { return raw_; }
  const std::vector<EncodedColumn>& columns() const { return columns_; }

  struct Result {
    Tensor values;       ///< [n, names()], float64
    int64_t unseen = 0;  ///< cells with a category that neither side had
    int64_t pooled = 0;  ///< cells with a rare category, or with one that neither side had
    std::string unseen_example = {}, pooled_example = {};  ///< "city = oslo"
    int64_t missing_row =
        0;  ///< the first row, from 1, whose value is missing in a column that had
    std::string missing_column = {};  ///< no missing values, and that column; 0 and "" for none
  };

  /// frame: the raw columns in the order of raw_names(), of their kinds. A category that neither
  /// side had counts as pooled; where nothing is pooled, as the most frequent one.
  Result encode(const Frame& frame) const;

  /// How to read a file for encode(): kinds are known.
  FrameOptions frame_options() const;
  std::vector<std::string> numbers() const;  ///< raw columns whose cells must be numbers
  std::vector<std::string> exact() const;    ///< those with levels that a double would round

  /// Keeps these of the numeric columns, by place.
  Encoding select(const std::vector<size_t>& places) const;

  nlohmann::json description() const;
  static Encoding load(const nlohmann::json& description);

 private:
  std::vector<int64_t> level_targets(const TypedColumn& column, size_t raw_column,
                                     Result& result) const;

  std::vector<RawColumn> raw_;
  std::vector<EncodedColumn> columns_;
  /// Text -> numeric column, or -1 for the level without one; for each raw column.
  std::vector<std::unordered_map<std::string, int64_t>> places_;
};

}  // namespace dre
