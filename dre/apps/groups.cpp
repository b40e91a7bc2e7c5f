#include "dre/apps/groups.h"

#include <algorithm>
#include <cmath>

#include "dre/apps/cross_fit.h"
#include "dre/apps/sides.h"
#include "dre/apps/support.h"
#include "dre/base/error.h"
#include "dre/base/names.h"
#include "dre/data/basis.h"
#include "dre/data/columns.h"
#include "dre/data/copies.h"
#include "dre/data/encoding_plan.h"
#include "dre/data/place.h"
#include "dre/data/reader.h"
#include "dre/data/source.h"

namespace dre {
namespace {

using Strings = std::vector<std::string>;

Frame read_columns(const GroupsOptions& options, const Strings& columns, bool counted,
                   int64_t seed) {
  ReadOptions read;
  read.header_optional = counted;
  read.columns = columns;
  read.missing = options.missing == "error" ? "error" : "keep";
  read.words = "keep";
  read.numbers = options.numeric;
  read.advice.missing = "--missing error refuses that";
  const auto reader = open_table(options.data, read);
  FrameOptions frame;
  frame.categories = options.categorical;
  frame.max_rows = options.max_rows;
  frame.seed = static_cast<uint64_t>(seed);
  FrameBuilder builder(input_name(options.data), reader->columns(), frame);
  const auto width = std::max<int64_t>(1, static_cast<int64_t>(reader->columns().size()));
  while (const auto block = reader->next(std::max<int64_t>(1, (int64_t{1} << 20) / width)))
    builder.add(*block);
  return std::move(builder).finish();
}

/// values: [n, d], levels of categories
void bound_by_entropy(const Tensor& values, Groups& groups) {
  const Tensor count = std::get<2>(torch::unique_dim(values, 0, true, false, true));
  const Tensor share = count.to(torch::kFloat64) / values.size(0);
  const double largest = std::log(static_cast<double>(count.size(0)));
  groups.entropy = std::min(groups.entropy, -(share * share.log()).sum().item<double>());
  groups.largest_entropy = std::min(groups.largest_entropy, largest);
}

/// Whether these are categories, none of whose levels are taken as one.
bool has_known_entropy(const Encoding& encoding) {
  return std::all_of(encoding.raw().begin(), encoding.raw().end(), [](const RawColumn& raw) {
    return raw.kind == TypedColumn::Kind::category && !raw.pools;
  });
}

/// The encoded columns of one group, without those that are constant.
Tensor encoded(const Frame& frame, size_t from, size_t to, Strings& names, Groups& groups) {
  Frame part{{frame.columns.begin() + static_cast<std::ptrdiff_t>(from),
              frame.columns.begin() + static_cast<std::ptrdiff_t>(to)},
             frame.rows,
             frame.rows_read};
  const EncodingPlan plan = make_encoding(part);
  const Encoding& encoding = plan.encoding;
  const auto found_here = encoding_warnings(plan);
  groups.warnings.insert(groups.warnings.end(), found_here.begin(), found_here.end());
  Strings reasons;
  for (const auto& [code, message] : found_here) reasons.push_back(message);
  check_data(!encoding.names().empty(), "no column of a group can be used: ", join(reasons, "; "));
  const Tensor values = encoding.encode(take_columns(part, encoding)).values;
  const Samples samples = make_samples(values, {}, "the table");
  const ConstantColumns found = constant_columns(samples, samples);
  check_data(!found.others.empty(),
             "every column of a group is constant: ", listed(encoding.names()));
  if (!found.constant.empty())
    groups.warnings.push_back(
        {"constant-column", text("left out, as one value is in every row: ",
                                 listed(encoding.select(found.constant).names()))});
  const Encoding kept = encoding.select(found.others);
  names = kept.names();
  if (has_known_entropy(kept)) bound_by_entropy(values, groups);
  return values.index_select(
      1, torch::tensor(std::vector<int64_t>(found.others.begin(), found.others.end())));
}

/// The smallest model is one of (folds - 1) / 2 folds, see mutual_information.cpp.
int64_t rows_needed_in_folds(int64_t columns, int64_t folds) {
  const int64_t used = (folds - 1) / 2;
  return (rows_needed(columns) + used - 1) / used * folds;
}

/// So few rows that no number of folds helps are refused before their columns are judged: in one
/// row every column is constant.
void check_any_rows(int64_t rows) {
  constexpr int64_t columns = 2;
  check_data(rows >= rows_needed(columns), "too few rows: ", columns, " columns need at least ",
             rows_needed_in_folds(columns, CrossFitOptions().folds), " rows, but there are ", rows,
             "; add rows");
}

/// Columns whose kind is given must be among those that are used.
void check_named(const char* option, const Strings& names, const Strings& columns) {
  for (const auto& name : names)
    check(contains(columns, name), option, " names column ", shown(name),
          ", which is in neither group; they hold ", listed(columns));
}

Strings first_columns(const GroupsOptions& options, int64_t count) {
  check(options.data != "-" && !is_stream(options.data),
        "the columns of a stream must be named with --x and --y");
  ReadOptions read;
  read.header_optional = true;
  read.words = "keep";
  Strings all = open_table(options.data, read)->columns();
  check_data(static_cast<int64_t>(all.size()) >= count, input_name(options.data), " has ",
             all.size(), " columns, but ", count, " are asked for");
  all.resize(static_cast<size_t>(count));
  return all;
}

}  // namespace

void GroupsOptions::visit(OptionVisitor& v) {
  v("data", data, {}, "file with the rows; - is standard input");
  v("x", x, "columns of the first group");
  v("y", y, "columns of the second group");
  v("categorical", categorical, "take these columns as categories, numbers or not");
  v("numeric", numeric, "these columns must hold numbers; any other text is an error");
  v("missing", missing, {"encode", "error"},
    "missing values: encode them with an indicator column, or refuse them");
  v("max-rows", max_rows, at_least(10), "rows at most; of more a random sample is kept");
}

Groups load_groups(const GroupsOptions& options, int64_t dx, int64_t dy, int64_t seed) {
  check(!options.data.empty(), "no data; give a file");
  check(options.x.empty() == options.y.empty(), "--x and --y must be given together");
  const bool counted = options.x.empty();
  for (const auto& name : options.x)
    check(!contains(options.y, name), "column ", shown(name),
          " is in --x and in --y: what it tells of itself has no bound; name it once");
  check_distinct("--x", options.x);
  check_distinct("--y", options.y);
  Strings columns = options.x;
  columns.insert(columns.end(), options.y.begin(), options.y.end());
  if (counted) {
    check(dx > 0 && dy > 0, "say which columns: --x a,b --y c,d, or FILE DX DY");
    columns = first_columns(options, dx + dy);
  } else {
    check(dx == 0 && dy == 0, "give --x and --y, or DX and DY, not both");
    dx = static_cast<int64_t>(options.x.size());
  }
  check_named("--categorical", options.categorical, columns);
  check_named("--numeric", options.numeric, columns);
  const Frame frame = read_columns(options, columns, counted, seed);
  check_any_rows(frame.rows);
  Groups out;
  out.x = encoded(frame, 0, static_cast<size_t>(dx), out.x_names, out);
  out.y = encoded(frame, static_cast<size_t>(dx), columns.size(), out.y_names, out);
  out.sampled = frame.sampled;
  if (out.sampled)
    out.warnings.push_back(
        {"sampled-rows", text("a random sample of ", frame.rows, " of the ", frame.rows_read,
                              " rows is used; --max-rows "
                              "sets how many")});
  const Repeats found = find_repeats(frame, columns);
  if (found.copies)
    out.warnings.push_back(
        {"copied-rows",
         text(found.copies->rows() - found.copies->different(), " of the ", found.copies->rows(),
              " rows are exact copies of others: where rows were repeated, the information comes "
              "out too large and its interval too narrow; leave the copies out")});
  else if (found.times > 1)
    out.warnings.push_back(repeated_rows(found.times, "table"));
  if (one_fixes_the_other(out.x, out.y))
    out.warnings.push_back(
        {"no-bound",
         "as far as these rows show, a column of one group is a function of the other group: the "
         "information has no bound, and the number is what these rows support"});
  return out;
}

void check_rows_in_folds(const Groups& groups, int64_t folds) {
  const int64_t columns = groups.x.size(1) + groups.y.size(1);
  const int64_t needed = rows_needed_in_folds(columns, folds);
  check_data(groups.x.size(0) >= needed, "too few rows: ", columns,
             " columns, as they are encoded, need at least ", needed, " rows, but there are ",
             groups.x.size(0), "; add rows or name fewer columns");
}

}  // namespace dre
