#include "dre/apps/groups.h"

#include <algorithm>
#include <cmath>

#include "dre/apps/cross_fit.h"
#include "dre/apps/fixed_columns.h"
#include "dre/apps/table_warnings.h"
#include "dre/apps/typed_table.h"
#include "dre/base/error.h"
#include "dre/base/names.h"
#include "dre/data/basis.h"
#include "dre/data/columns.h"
#include "dre/data/encoding_plan.h"
#include "dre/data/place.h"
#include "dre/data/source.h"

namespace dre {
namespace {

using Strings = std::vector<std::string>;

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

/// Data error where no column of a group can be used.
Encoding usable_encoding(Frame& group, Groups& groups) {
  const EncodingPlan plan = make_encoding(group);
  Strings reasons;
  for (const auto& warning : encoding_warnings(plan)) {
    groups.warnings.push_back(warning);
    reasons.push_back(warning.message);
  }
  check_data(!plan.encoding.names().empty(),
             "no column of a group can be used: ", join(reasons, "; "));
  return plan.encoding;
}

/// The encoded columns of one group, without those that are constant.
Tensor encode_group(Frame group, Strings& names, Strings& columns, Groups& groups) {
  const Encoding encoding = usable_encoding(group, groups);
  const Tensor values = encoding.encode(take_columns(group, encoding)).values;
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
  columns = kept.raw_names();
  if (has_known_entropy(kept)) bound_by_entropy(values, groups);
  return values.index_select(
      1, torch::tensor(std::vector<int64_t>(found.others.begin(), found.others.end())));
}

/// The smallest model is one of (folds - 1) / 2 folds, see mutual_information.cpp; and a row of a
/// fold is paired with another one there.
int64_t rows_needed_in_folds(int64_t columns, int64_t folds) {
  const int64_t used = (folds - 1) / 2;
  return std::max<int64_t>(2, (rows_needed(columns) + used - 1) / used) * folds;
}

/// The fewest folds that so many rows are enough for; nothing where no number of folds helps.
std::string folds_hint(int64_t columns, int64_t rows) {
  for (int64_t folds = 3; folds <= std::min(CrossFitOptions::most_folds, rows / 2); ++folds)
    if (rows_needed_in_folds(columns, folds) <= rows) return text(" or take --folds ", folds);
  return "";
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

Strings first_columns(const GroupsOptions& options, int64_t dx, int64_t dy) {
  check(options.data != "-" && !is_stream(options.data),
        "the columns of a stream must be named with --x and --y");
  ReadOptions read;
  read.header_optional = true;
  read.words = "keep";
  Strings all = open_table(options.data, read)->columns();
  const auto there = static_cast<int64_t>(all.size());
  check_data(dx <= there && dy <= there - dx, input_name(options.data), " has ", there,
             " columns, but ", dx, " and ", dy, " are asked for");
  all.resize(static_cast<size_t>(dx + dy));
  return all;
}

/// The columns of both groups, those of x first.
Strings chosen_columns(const GroupsOptions& options, int64_t dx, int64_t dy) {
  check(options.x.empty() == options.y.empty(), "--x and --y must be given together");
  for (const auto& name : options.x)
    check(!contains(options.y, name), "column ", shown(name),
          " is in --x and in --y: what it tells of itself has no bound; name it once");
  check_distinct("--x", options.x);
  check_distinct("--y", options.y);
  if (options.x.empty()) {
    check(dx > 0 && dy > 0, "say which columns: --x a,b --y c,d, or FILE DX DY");
    return first_columns(options, dx, dy);
  }
  check(dx == 0 && dy == 0, "give --x and --y, or DX and DY, not both");
  Strings columns = options.x;
  columns.insert(columns.end(), options.y.begin(), options.y.end());
  return columns;
}

Frame read_columns(const GroupsOptions& options, const Strings& columns, int64_t seed) {
  ReadOptions read = read_options(options);
  read.header_optional = options.x.empty();
  read.columns = columns;
  const auto reader = open_table(options.data, read);
  return read_frame(*reader, options.data, frame_options(options, seed));
}

Groups encode_groups(const Frame& frame, int64_t of_x) {
  const auto group = [&](auto from, auto to) {
    return Frame{{from, to}, frame.rows, frame.rows_read};
  };
  const auto first = frame.columns.begin(), first_of_y = first + of_x;
  Groups out;
  out.x = encode_group(group(first, first_of_y), out.x_names, out.x_columns, out);
  out.y = encode_group(group(first_of_y, frame.columns.end()), out.y_names, out.y_columns, out);
  out.sampled = frame.sampled;
  return out;
}

void warn_of_rows(const Frame& frame, const Strings& columns, Groups& groups) {
  if (frame.sampled) groups.warnings.push_back(warning_of_sample(frame.rows, frame.rows_read));
  const auto repeated =
      warning_of_repeats(find_repeats(frame, columns),
                         ": where rows were repeated, the information comes out too "
                         "large and its interval too narrow; leave the copies out");
  if (repeated) groups.warnings.push_back(*repeated);
}

void judge_bound(Groups& groups) {
  groups.no_bound = one_fixes_the_other(groups.x, groups.y);
  if (groups.no_bound)
    groups.warnings.push_back(
        {"no-bound",
         "as far as these rows show, a column of one group is a function of the other group: the "
         "information has no bound, and the number is what these rows support"});
}

}  // namespace

void GroupsOptions::visit(OptionVisitor& v) {
  v("data", data, {}, "file with the rows; - is standard input");
  v("x", x, "columns of the first group");
  v("y", y, "columns of the second group");
  visit_kinds(v);
  visit_rows(v, "rows at most; of more a random sample is kept");
}

Groups load_groups(const GroupsOptions& options, int64_t dx, int64_t dy, int64_t seed) {
  check(!options.data.empty(), "no data; give a file");
  const Strings columns = chosen_columns(options, dx, dy);
  check_named("--categorical", options.categorical, columns);
  check_named("--numeric", options.numeric, columns);
  const Frame frame = read_columns(options, columns, seed);
  check_any_rows(frame.rows);
  Groups out = encode_groups(frame, options.x.empty() ? dx : std::ssize(options.x));
  warn_of_rows(frame, columns, out);
  judge_bound(out);
  return out;
}

Groups make_groups(const Tensor& x, const Tensor& y, Strings x_names, Strings y_names) {
  const std::string in_x = "the group x", in_y = "the group y";
  Groups out;
  out.x = as_read(make_samples(x, {}, in_x)).x;
  out.y = as_read(make_samples(y, {}, in_y)).x;
  check_same_rows(out);
  out.x_columns = out.x_names = names_or_numbered(std::move(x_names), out.x.size(1), "x", in_x);
  out.y_columns = out.y_names = names_or_numbered(std::move(y_names), out.y.size(1), "y", in_y);
  Strings all = out.x_names;
  all.insert(all.end(), out.y_names.begin(), out.y_names.end());
  check_column_names("the groups", all);
  judge_bound(out);
  return out;
}

void check_same_rows(const Groups& groups) {
  check(groups.x.size(0) == groups.y.size(0), "both groups need the same rows, got ",
        groups.x.size(0), " and ", groups.y.size(0));
}

void check_rows_in_folds(const Groups& groups, int64_t folds) {
  const int64_t columns = groups.x.size(1) + groups.y.size(1);
  const int64_t needed = rows_needed_in_folds(columns, folds), rows = groups.x.size(0);
  check_data(rows >= needed, "too few rows: ", columns,
             " columns, as they are encoded, need at least ", needed, " rows in ", folds,
             " folds, but there are ", rows, "; add rows, name fewer columns",
             folds_hint(columns, rows));
}

}  // namespace dre
