/// Tables to files, a block of rows at a time: .csv, .tsv, .npy; "-" is csv on standard output.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "dre/data/table.h"

namespace dre {

class TableWriter {
 public:
  virtual ~TableWriter() = default;

  /// rows: [n, columns], float64.
  virtual void write(const Tensor& rows) = 0;

  /// Makes the file appear; without it nothing is left and an old file stays.
  virtual void finish() = 0;
};

/// Usage error where the name of `path` does not tell a format that can be written.
void check_table_format(const std::string& path);

/// csv: a header, then the shortest digits that read back to the same numbers. npy: [n, k], or [n]
/// for one column.
std::unique_ptr<TableWriter> open_writer(const std::string& path,
                                         const std::vector<std::string>& column_names);

}  // namespace dre
