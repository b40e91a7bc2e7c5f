/// The two sides of a ratio: from two files, from one file with a column that tells the sides
/// apart, or from numbers in memory. Columns of files are matched by name; everything that cannot
/// be used is refused here, with file, row and column.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "dre/apps/side_options.h"
#include "dre/base/warning.h"
#include "dre/data/copies.h"
#include "dre/data/encoding_plan.h"
#include "dre/data/samples.h"

namespace dre {

struct Sides {
  Samples numerator, denominator;  ///< in encoded columns, each of several copies once
  Encoding encoding;               ///< from the columns of the files to those of the samples
  std::vector<std::string> names;  ///< of the encoded columns, in the order of the numerator's file
  nlohmann::json description;      ///< files, rows, checksums of the numbers, columns left out
  std::vector<Warning> warnings;
  std::vector<std::string> apart;       ///< columns no value of which both sides have: not compared
  OwnLevels own_levels;                 ///< rare levels of one side, which the samples do not show
  bool denominator_is_sampled = false;  ///< it has more rows than are here
  bool denominator_has_weights = false;  ///< other than those of its copies
  double denominator_weight = 1;         ///< mean of its weights before they were scaled to mean 1
  std::optional<Copies> denominator_copies;  ///< where rows of the file were taken as one
};

/// Columns that are constant on both sides, have no value, or identify rows are left out with a
/// warning, and so are those that separate the sides completely, which are `apart`. Data errors:
/// files that cannot be read, different columns, no column left, too few rows; missing values where
/// `missing` is "error". seed: of the sample that max_rows asks for.
Sides load_sides(const SidesOptions& options, int64_t seed = 0);

/// Numbers as they are, for all jobs that take sides; the jobs compute where their options say.
/// Nobody looks for copies of rows, and of weights only the proportions are known: those of
/// `normalize none` need `denominator_weight`. names: of the columns, "x0", "x1", ... where there
/// are none. Columns that are constant on both sides, or separate the sides completely, are left
/// out with a warning; data error where none is left.
Sides make_sides(const Samples& numerator, const Samples& denominator,
                 std::vector<std::string> names = {});

}  // namespace dre
