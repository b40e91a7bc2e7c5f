#include "dre/apps/rate_table.h"

#include <algorithm>
#include <cmath>
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

/// Rows of a side of the fit, as its record has them; infinity where it has none.
double fitted_rows(const Estimator& estimator, const char* side) {
  const auto data = estimator.record.find("data");
  if (data == estimator.record.end() || !data->contains(side)) return INFINITY;
  return (*data)[side].value("effective_rows", INFINITY);
}

/// Rates block after block, and counts what it meets.
class TableRating {
 public:
  TableRating(const Estimator& estimator, const std::string& name, const RateOptions& options)
      : estimator_(estimator),
        name_(name),
        options_(options),
        columns_(rated_columns(estimator, options)),
        largest_(std::log(fitted_rows(estimator, "denominator"))),
        least_(-std::log(fitted_rows(estimator, "numerator"))) {}

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
    if (met.unseen_example.empty()) met.unseen_example = result.unseen_example;
    if (met.pooled_example.empty()) met.pooled_example = result.pooled_example;
    return result.values;
  }

  Tensor part(const std::string& column, const Tensor& values, const Estimate& estimate) const {
    if (column == "error") return estimate.error;
    if (column == "spread") return estimate.spread;
    if (column == "disagreement")
      return path_disagreement(estimator_, values, options_.ratio.integrate);
    return estimate.log_ratio;
  }

  static void count(const Tensor& odd, int64_t rows_before, int64_t& count, int64_t& first) {
    const auto how_many = odd.sum().item<int64_t>();
    if (how_many > 0 && count == 0) first = rows_before + odd.nonzero()[0].item<int64_t>() + 1;
    count += how_many;
  }

  void count(const Estimate& estimate, RateResult& met) const {
    const Tensor& log_ratio = estimate.log_ratio;
    const Tensor finite = log_ratio.isfinite();
    const Tensor far = (log_ratio > largest_).logical_or(log_ratio < least_);
    count(finite.logical_not(), met.rows, met.not_finite, met.first_not_finite);
    count(far.logical_and(finite), met.rows, met.extrapolated, met.first_extrapolated);
    met.rows += estimate.log_ratio.size(0);
    if (met.status == Status::ok) met.status = estimate.status;
  }

  const Estimator& estimator_;
  const std::string& name_;
  const RateOptions& options_;
  std::vector<std::string> columns_;
  double largest_, least_;  // log-ratios that rows of the fit can show
};

std::vector<Warning> judge_rating(const RateResult& met) {
  std::vector<Warning> warnings;
  const auto tell_cells = [&](int64_t cells, const std::string& example, const char* which) {
    if (cells > 0)
      warnings.push_back({"unseen-category", text(cells, cells == 1 ? " cell has" : " cells have",
                                                  which, ", such as ", example)});
  };
  tell_cells(met.unseen, met.unseen_example,
             " a category that the fit never saw and that counts as the most frequent");
  tell_cells(met.pooled, met.pooled_example,
             " a category that was rare in the fit or that it never saw, and that counts as the "
             "rare ones, which are taken as one");
  if (met.extrapolated > 0)
    warnings.push_back(
        {"little-support",
         text(
             met.extrapolated, " of ", met.rows, " rows, the first in row ", met.first_extrapolated,
             ", have a ratio that the rows of the fit are too few to show: extrapolated, where one "
             "of the sides has nothing like them")});
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
