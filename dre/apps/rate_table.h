/// Log-ratios of the rows of a table as it comes, a block at a time, so that memory does not grow
/// with it:
///
///     const auto reader = open_table("rows.csv", read_options_for(estimator));
///     const auto writer = open_writer("log_ratio.csv", rated_columns(estimator));
///     const RateResult met = rate_table(*reader, *writer, estimator, "rows.csv", {}, silent);
#pragma once

#include <string>
#include <vector>

#include "dre/base/progress.h"
#include "dre/base/warning.h"
#include "dre/data/reader.h"
#include "dre/data/writer.h"
#include "dre/ratio/estimator.h"

namespace dre {

struct RateOptions {
  bool with_error = false;
  RatioOptions ratio;

  void visit(OptionVisitor& v);
};

/// What was met on the way.
struct RateResult {
  int64_t rows = 0;
  int64_t unseen = 0, pooled = 0;  ///< cells, as Encoding::Result counts them
  int64_t not_finite = 0;          ///< rows whose log-ratio is not
  int64_t first_not_finite = 0;    ///< the first of them, from 1; 0: none
  int64_t extrapolated = 0;        ///< rows whose ratio no rows of the fit can show: one in all of
                                   ///< a side's is its least
  int64_t first_extrapolated = 0;  ///< the first of them, from 1; 0: none
  std::string unseen_example = {}, pooled_example = {};  ///< of these cells, "city = oslo"
  Status status = Status::ok;                            ///< the first of a block that is not ok
  std::vector<Warning> warnings;                         ///< of categories and of the integral
  bool interrupted = false;                              ///< the output is not finished
};

/// How to open a table for an estimator: the columns that its encoding reads, words kept.
ReadOptions read_options_for(const Estimator& estimator);

/// What is written of every row: log_ratio; with_error: error (of the integral), and spread between
/// members, or disagreement between paths, where there are several.
std::vector<std::string> rated_columns(const Estimator& estimator, const RateOptions& options = {});

/// Rates every row of `reader`, in its order. name: what errors call the table. A value that is
/// missing in a column where the fit had none is a data error. Rows without a finite log-ratio are
/// written, too, and counted.
RateResult rate_table(TableReader& reader, TableWriter& writer, const Estimator& estimator,
                      const std::string& name, const RateOptions& options, Progress& progress);

}  // namespace dre
