/// How the columns of two tables are to be encoded, found from all their rows.
///
/// A number or date is itself. Where a side has missing values, they get the pooled median and an
/// indicator column "x is missing". Where one value has at least 5 % of the rows of a side and the
/// others are nearly all different (many exact zeros), that point mass gets an indicator "x = 0".
/// A category becomes one indicator for each level but the most frequent one; missing is a level.
/// Levels with fewer than max(10, 0.5 % of the smaller side) rows of both sides, and all but the 30
/// most frequent, are pooled into "(other)"; where no level has so many, 5 rows are enough.
/// Categories of which more than nine in ten rows have one of their own are identifiers; whole
/// numbers none of which repeats, though by chance some would, are noticed and kept. A number that
/// is the same on one side and continuous on the other, which never has that value, is left out.
#pragma once

#include "dre/data/encoding.h"
#include "dre/data/one_sided.h"

namespace dre {

/// Rare levels that only one side has, in more rows than chance explains. They are pooled or left
/// out, so that no model sees them. A column without any frequent level is left out as one of
/// identifiers, and does not count.
struct OwnLevels {
  std::vector<std::string> columns;
  double numerator = 0, denominator = 0;  ///< share of the rows of a side, in the worst column
  bool nothing_shared = false;            ///< in one of the columns, see OneSidedLevels
  int64_t looks = 0;                      ///< at a side of a column
};

/// An encoding and what was noticed while making it: names of raw columns, and "city = rome".
struct EncodingPlan {
  Encoding encoding;
  std::vector<std::string> all_missing;       ///< no value on either side: left out
  std::vector<std::string> constant_text;     ///< one text everywhere: left out
  std::vector<std::string> id_like;           ///< nearly every text is different: left out
  std::vector<std::string> formatted;         ///< of those: they look like formatted numbers
  std::vector<std::string> formatted_levels;  ///< categories whose many levels do
  std::vector<std::string> row_numbers;       ///< whole numbers, none of them twice: kept
  std::vector<std::string> rounded;           ///< numbers that differ in their last digits: kept
  std::vector<std::string> rare_levels;       ///< no level has 5 rows: left out
  std::vector<std::string> pooled;            ///< "zip (270 levels, 45 % of the rows)"
  std::vector<std::string> only_on_one_side;  ///< no value there, one in every row here: left out
  std::vector<std::string> never_equal;       ///< one value here, never that one there: left out
  std::vector<std::string> kinds_differ;      ///< numbers here, words there, none common: left out
  std::vector<std::string> missing_on_one_side;  ///< no value there, some missing here
  std::vector<std::string> one_sided_levels;     ///< categories that one side never has
  OwnLevels own_levels;                          ///< of those, the ones that are pooled
};

/// Columns of the same names in the same order; where the kinds differ, both become categories, and
/// are left out where they have no level in common.
EncodingPlan make_encoding(Frame& numerator, Frame& denominator);

/// Of one table, which is both sides; its rows count once.
EncodingPlan make_encoding(Frame& table);

/// Moves the columns that the encoding uses out of a table of which it was made.
Frame take_columns(Frame& table, const Encoding& encoding);

}  // namespace dre
