/// From files to the two sides of a ratio: two files, or one file with a column that tells the
/// sides apart. Columns are matched by name; everything that cannot be used is refused here, with
/// file, row and column.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "dre/apps/warning.h"
#include "dre/base/options.h"
#include "dre/data/samples.h"
#include "dre/data/table.h"

namespace dre {

struct SidesOptions {
  std::string numerator, denominator;  ///< two files, or
  std::string data;                    ///< one file
  std::string domain_column;           ///< in which this column
  std::string numerator_value;         ///< has this value in the rows of the numerator
  std::vector<std::string> columns, drop;
  std::string weight_column;
  std::string missing = "error";

  void visit(OptionVisitor& v);
};

struct Sides {
  Samples numerator, denominator;
  std::vector<std::string> names;  ///< of the columns, in the order of the numerator's file
  nlohmann::json description;      ///< files, rows, checksums of the numbers, columns left out
  std::vector<Warning> warnings;
};

/// Columns that are constant on both sides are left out with a warning. Data errors: files that
/// cannot be read, different columns, missing values, columns that separate the sides completely,
/// too few rows.
Sides load_sides(const SidesOptions& options);

/// Throws a data error that names the first row with a missing value. `rows_before`: rows of the
/// file that came before this table.
void check_complete(const Table& table, const std::string& file, int64_t rows_before = 0);

}  // namespace dre
