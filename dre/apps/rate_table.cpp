#include "dre/apps/rate_table.h"

#include <algorithm>
#include <utility>

#include "dre/apps/diagnostics.h"
#include "dre/base/error.h"
#include "dre/data/frame.h"
#include "dre/data/place.h"

namespace dre {
namespace {

/// A spread means something between members that take part in the estimate.
bool has_spread(const Estimator& estimator) {
  const auto& members = estimator.members();
  return std::count_if(members.begin(), members.end(),
                       [](const Member& member) { return member.weight != 0; }) > 1;
}

/// Rates block after block, and counts what it meets.
class TableRating {
 public:
  TableRating(const Estimator& estimator, const std::string& name, const RateOptions& options)
      : estimator_(estimator),
        name_(name),
        options_(options),
        columns_(rated_columns(estimator, options)) {}

  /// Raw cells -> [n, rated_columns()]
  Tensor operator()(const Table& block, RateResult& met) const {
    const Tensor values = encode(block, met);
    const Estimate estimate = estimator_.log_ratio(values, options_.ratio);
    std::vector<Tensor> out;
    out.reserve(columns_.size());
    for (const auto& column : columns_) out.push_back(part(column, values, estimate));
    count(estimate, met);
    return torch::stack(out, 1);
  }

 private:
  /// A block of raw cells in the columns of the model.
  Tensor encode(const Table& block, RateResult& met) const {
    FrameOptions options = estimator_.encoding.frame_options();
    options.rows_before = met.rows;
    FrameBuilder builder(name_, block.columns, options);
    builder.add(block);
    const Encoding::Result result = estimator_.encoding.encode(std::move(builder).finish());
    check_data(result.missing_row == 0,
               Place{name_, met.rows + result.missing_row, 0, result.missing_column}.describe(),
               ": the value is missing, but the rows of the fit had no missing values there; fill "
               "it in, or leave the row out");
    met.unseen += result.unseen;
    met.pooled += result.pooled;
    return result.values;
  }

  Tensor part(const std::string& column, const Tensor& values, const Estimate& estimate) const {
    if (column == "error") return estimate.error;
    if (column == "spread") return estimate.spread;
    if (column == "disagreement")
      return path_disagreement(estimator_, values, options_.ratio.integrate);
    return estimate.log_ratio;
  }

  static void count(const Estimate& estimate, RateResult& met) {
    const Tensor bad = estimate.log_ratio.isfinite().logical_not();
    const auto how_many = bad.sum().item<int64_t>();
    if (how_many > 0 && met.not_finite == 0)
      met.first_not_finite = met.rows + bad.nonzero()[0].item<int64_t>() + 1;
    met.not_finite += how_many;
    met.rows += estimate.log_ratio.size(0);
    if (met.status == Status::ok) met.status = estimate.status;
  }

  const Estimator& estimator_;
  const std::string& name_;
  const RateOptions& options_;
  std::vector<std::string> columns_;
};

std::vector<Warning> judge_rating(const RateResult& met) {
  std::vector<Warning> warnings;
  const auto tell_cells = [&](int64_t cells, const char* which) {
    if (cells > 0)
      warnings.push_back(
          {"unseen-category", text(cells, cells == 1 ? " cell has" : " cells have", which)});
  };
  tell_cells(met.unseen, " a category that the fit never saw; it counts as the most frequent one");
  tell_cells(met.pooled,
             " a category that was rare in the fit or that it never saw; it counts as the "
             "rare ones, which are taken as one");
  if (met.status != Status::ok)
    warnings.push_back({"integration", text("the integral over time: ", describe(met.status))});
  return warnings;
}

}  // namespace

void RateOptions::visit(OptionVisitor& v) {
  v("with-error", with_error,
    "also write the error of the integral, and how far members or paths differ");
  ratio.visit(v);
}

ReadOptions read_options_for(const Estimator& estimator) {
  ReadOptions read;
  read.columns = estimator.encoding.raw_names();
  read.words = "keep";
  read.numbers = estimator.encoding.numbers();
  read.exact = estimator.encoding.exact();
  return read;
}

std::vector<std::string> rated_columns(const Estimator& estimator, const RateOptions& options) {
  std::vector<std::string> columns = {"log_ratio"};
  if (!options.with_error) return columns;
  columns.emplace_back("error");
  if (has_spread(estimator))
    columns.emplace_back("spread");
  else if (!other_paths(estimator).empty())
    columns.emplace_back("disagreement");
  return columns;
}

RateResult rate_table(TableReader& reader, TableWriter& writer, const Estimator& estimator,
                      const std::string& name, const RateOptions& options, Progress& progress) {
  validate(options);
  const std::vector<std::string> needed = estimator.encoding.raw_names();
  check(reader.columns() == needed, "the estimator reads the columns ", listed(needed), ", but ",
        name, " was opened for ", listed(reader.columns()), "; open it by read_options_for()");
  const TableRating rate(estimator, name, options);
  const auto width = static_cast<int64_t>(estimator.names().size());
  const int64_t block_rows = std::clamp<int64_t>((int64_t{1} << 20) / width, 1, 16384);
  RateResult met;
  progress.begin("rows", 0);
  // A table that has been rated to its end is not interrupted.
  while (const auto block = reader.next(block_rows)) {
    met.interrupted = progress.stop_requested();
    if (met.interrupted) break;
    writer.write(rate(*block, met));
    progress.advance(met.rows, "");
  }
  progress.end();
  if (met.interrupted) return met;
  writer.finish();
  met.warnings = judge_rating(met);
  return met;
}

}  // namespace dre
