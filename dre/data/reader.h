/// Tables from files, a block of rows at a time, so that memory does not grow with the file.
///
/// The format follows from the ending: .csv and .tsv (also .gz), .npy, .npz; "-" is standard input
/// (csv, or npy recognised by its first bytes). Odd cells have one policy in all formats: empty,
/// NA, NaN, null and None (in any case) are missing values, infinite numbers are an error that
/// names file, row and column.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dre/base/options.h"
#include "dre/data/place.h"
#include "dre/data/table.h"

namespace dre {

struct ReadOptions {
  std::vector<std::string> columns;  ///< keep only these numeric columns, in this order; empty: all
  std::vector<std::string> drop;     ///< leave these out
  std::vector<std::string> texts;    ///< read these as text, in addition to `columns`
  std::string missing = "keep";      ///< "keep": missing cells are NaN; "error": they are refused
  std::string words = "error";       ///< cells that are no numbers: "keep" them or refuse them
  std::vector<std::string> numbers = {};  ///< columns whose words are refused all the same
  std::vector<std::string> exact = {};  ///< columns whose numbers are words where they are rounded
  /// Whether delimited text may lack names: a first line of numbers is then a row, and the columns
  /// are x0, x1, ..., as those of arrays are.
  bool header_optional = false;
  Advice advice = {};                              ///< of errors about cells
  std::vector<std::string> columns_if_there = {};  ///< besides `columns`, where the file has them

  void visit(OptionVisitor& v);
};

class TableReader {
 public:
  virtual ~TableReader() = default;

  /// Names of the numeric columns of every block.
  virtual const std::vector<std::string>& columns() const = 0;

  /// The next rows: `max_rows` of them, fewer only at the end of the file, then nothing. A file
  /// without any row is a data error.
  virtual std::optional<Table> next(int64_t max_rows) = 0;
};

std::unique_ptr<TableReader> open_table(const std::string& path, const ReadOptions& options = {});

/// The next rows, a million values at most.
std::optional<Table> next_block(TableReader& reader);

/// All rows of a file.
Table read_table(const std::string& path, const ReadOptions& options = {});

}  // namespace dre
