/// Tables of files, read into typed columns as the user of a job chose.
#pragma once

#include <string>
#include <vector>

#include "dre/base/options.h"
#include "dre/data/frame.h"
#include "dre/data/reader.h"

namespace dre {

/// What every job that reads tables lets its user choose.
struct TableOptions {
  std::vector<std::string> categorical, numeric;
  std::string missing = "encode";
  int64_t max_rows = 1'000'000;

  /// In two parts, as options of a job may stand between them. max_rows_help: what the rows are
  /// counted of is the job's to say.
  void visit_kinds(OptionVisitor& v);
  void visit_rows(OptionVisitor& v, const char* max_rows_help);
};

/// advice: of errors about cells; why a missing value is refused is filled in.
ReadOptions read_options(const TableOptions& options, Advice advice = {});

/// seed: of the sample that max_rows asks for.
FrameOptions frame_options(const TableOptions& options, int64_t seed, const Advice& advice = {});

/// All rows, or a random sample of at most `max_rows` of them.
Frame read_frame(TableReader& reader, const std::string& path, const FrameOptions& options);

}  // namespace dre
