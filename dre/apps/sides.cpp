#include "dre/apps/sides.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <utility>

#include "dre/apps/side_files.h"
#include "dre/apps/table_warnings.h"
#include "dre/base/error.h"
#include "dre/base/names.h"
#include "dre/data/basis.h"
#include "dre/data/checksum.h"
#include "dre/data/column_transform.h"
#include "dre/data/columns.h"
#include "dre/data/encoding_plan.h"
#include "dre/data/place.h"

namespace dre {
namespace {

using Strings = std::vector<std::string>;

/// Indicators of categories are judged by their levels, see encoding_warnings; those of a number
/// that is itself named say no more.
Strings worth_telling(const Encoding& found) {
  Strings out;
  for (const auto& column : found.columns()) {
    const RawColumn& raw = found.raw()[column.source];
    if (raw.kind != TypedColumn::Kind::category && !contains(out, raw.name))
      out.push_back(column.role == EncodedColumn::Role::value ? column.name
                                                              : text("'", column.name, "'"));
  }
  return out;
}

/// Whether this stands for whole numbers that doubles cannot tell apart, and is no mark that people
/// write into every row, as -2^63 or 1e20.
bool may_be_rounded(double value) {
  constexpr double last_exact = 9007199254740992;  // 2^53
  constexpr size_t few_digits = 8;
  int exponent = 0;
  const bool power_of_two = std::abs(std::frexp(value, &exponent)) == 0.5;
  return std::abs(value) >= last_exact && !power_of_two && number_text(value).size() > few_digits;
}

/// Which of these columns hold such a number.
Strings too_long(const std::vector<size_t>& places, const Sides& sides) {
  Strings out;
  for (const size_t place : places)
    if (may_be_rounded(sides.numerator.x[0][static_cast<int64_t>(place)].item<double>()))
      out.push_back(sides.encoding.names()[place]);
  return out;
}

/// Of a raw column all encoded ones were left out, or the values, while whether there is one is
/// kept.
void warn_of_constants(const Encoding& left_out, const Strings& rounded, Sides& sides) {
  const Strings used = sides.encoding.raw_names();
  Strings gone, values_gone;
  for (const auto& name : left_out.raw_names())
    if (!contains(used, name)) gone.push_back(name);
  for (const auto& column : left_out.columns()) {
    const std::string& name = left_out.raw()[column.source].name;
    if (column.role == EncodedColumn::Role::value && contains(used, name))
      values_gone.push_back(name);
  }
  for (const auto& name : gone) sides.description["dropped_columns"].push_back(name);
  const auto warn = [&](const Strings& names, const char* what) {
    if (!names.empty())
      sides.warnings.push_back({"constant-column", text(columns_are(names), what)});
  };
  warn(gone, " constant on both sides and left out");
  if (!rounded.empty())
    sides.warnings.push_back(
        {"rounded-numbers", text("of ", listed(rounded),
                                 " only the first 15 digits or so were compared: where the others "
                                 "tell something, --categorical ",
                                 shell_list(rounded), " keeps them (csv and tsv)")});
  warn(values_gone, " constant where there is a value: only whether there is one is compared");
}

/// Columns that tell all rows apart are nothing to compare by.
void check_left(bool any, const Sides& sides) {
  check_data(any || sides.apart.empty(), "no column is left to compare: no value of ",
             listed(sides.apart),
             " is on both sides, and the ratio is infinite or zero everywhere");
}

void keep_columns(const std::vector<size_t>& places, Sides& sides) {
  const Tensor kept = torch::tensor(std::vector<int64_t>(places.begin(), places.end()));
  sides.numerator.x = sides.numerator.x.index_select(1, kept);
  sides.denominator.x = sides.denominator.x.index_select(1, kept);
  sides.encoding = sides.encoding.select(places);
  sides.names = sides.encoding.names();
}

/// Columns with one value on each side, another one there, tell all rows apart.
void leave_out_separated(const std::vector<size_t>& separated, Sides& sides) {
  if (separated.empty()) return;
  const Strings gone = sides.encoding.select(separated).raw_names();
  std::vector<size_t> kept;
  for (size_t j = 0; j < sides.encoding.columns().size(); ++j)
    if (!contains(gone, sides.encoding.raw()[sides.encoding.columns()[j].source].name))
      kept.push_back(j);
  sides.apart.insert(sides.apart.end(), gone.begin(), gone.end());
  check_left(!kept.empty(), sides);
  sides.warnings.push_back(
      {"one-sided-column",
       text(columns_are(gone), " constant on each side, with different values, and left out",
            tells_apart(gone))});
  for (const auto& name : gone) sides.description["dropped_columns"].push_back(name);
  keep_columns(kept, sides);
}

/// Leaves out what is constant on both sides, or on each.
void judge_columns(Sides& sides) {
  leave_out_separated(constant_columns(sides.numerator, sides.denominator).separated, sides);
  const ConstantColumns found = constant_columns(sides.numerator, sides.denominator);
  const Strings one_sided = worth_telling(sides.encoding.select(found.one_sided));
  if (!one_sided.empty())
    sides.warnings.push_back(
        {"one-sided-column", text(columns_are(one_sided),
                                  " constant on one side only: the ratio is infinite or zero where "
                                  "the other side has other values")});
  if (found.constant.empty()) return;
  check_left(!found.others.empty(), sides);
  check_data(!found.others.empty(), "every column is constant; nothing can be compared");
  const Encoding left_out = sides.encoding.select(found.constant);
  const Strings rounded = too_long(found.constant, sides);
  keep_columns(found.others, sides);
  warn_of_constants(left_out, rounded, sides);
}

void use_encoding(const EncodingPlan& plan, Sides& sides) {
  const auto found = encoding_warnings(plan);
  sides.warnings.insert(sides.warnings.end(), found.begin(), found.end());
  if (!plan.row_numbers.empty())
    sides.warnings.push_back(
        {"row-numbers",
         text("no number repeats in ", listed(plan.row_numbers),
              ", as with row numbers and identifiers, which may tell tables apart whatever else "
              "they hold; leave out (--drop) what is one")});
  for (const auto* names :
       {&plan.all_missing, &plan.constant_text, &plan.id_like, &plan.rare_levels,
        &plan.only_on_one_side, &plan.never_equal, &plan.kinds_differ})
    for (const auto& name : *names) sides.description["dropped_columns"].push_back(name);
  for (const auto* names : {&plan.only_on_one_side, &plan.never_equal, &plan.kinds_differ})
    sides.apart.insert(sides.apart.end(), names->begin(), names->end());
  sides.encoding = plan.encoding;
  sides.names = sides.encoding.names();
}

void warn_of_sampling(const RawSide& side, bool two_files, Sides& sides) {
  if (!side.frame.sampled) return;
  const int64_t rows = side.copies ? side.copies->rows() : side.frame.rows;
  const std::string table = two_files ? side.file : text("the ", side.what, " in ", side.file);
  sides.warnings.push_back(warning_of_sample(rows, side.frame.rows_read, table));
}

/// Squares of larger numbers would overflow.
void check_sizes(const Tensor& values, const Strings& names, const RawSide& raw) {
  const Tensor bad = (values.abs() < 1e150).logical_not().nonzero();
  if (bad.size(0) == 0) return;
  const int64_t row = bad[0][0].item<int64_t>(), column = bad[0][1].item<int64_t>();
  fail(Error::Kind::data, raw.place(row, names[static_cast<size_t>(column)]).describe(),
       ": the value ", values[row][column].item<double>(),
       " is beyond 1e150, which cannot be computed with; correct it, or write NA");
}

/// Frames -> samples; the frames are used up.
Samples encoded(RawSide& raw, const Encoding& encoding) {
  const Tensor values = encoding.encode(take_columns(raw.frame, encoding)).values;
  check_sizes(values, encoding.names(), raw);
  return make_samples(values, raw.weight, "the " + raw.what);
}

/// Takes exact copies of a row as one row with the weight of all. columns: those that are used.
void merge_copies(RawSide& raw, const RawSide& other, const Strings& columns, Sides& sides) {
  Repeats found = find_repeats(raw.frame, columns, raw.weight, &other.frame);
  const auto warning =
      warning_of_repeats(found,
                         ", as in a table that was repeated or oversampled: each row "
                         "is taken once, with the weight of its copies",
                         "the " + raw.what);
  if (warning) sides.warnings.push_back(*warning);
  raw.copies = std::move(found.copies);
  if (!raw.copies) return;
  raw.frame = raw.frame.take(raw.copies->kept);
  raw.weight = raw.copies->weight;
}

/// Of copies one row counts, for levels and point masses, too.
EncodingPlan planned(RawSides& raw, Sides& sides) {
  EncodingPlan plan = make_encoding(raw.numerator.frame, raw.denominator.frame);
  const Strings columns = plan.encoding.raw_names();
  merge_copies(raw.numerator, raw.denominator, columns, sides);
  merge_copies(raw.denominator, raw.numerator, columns, sides);
  if (!raw.numerator.copies && !raw.denominator.copies) return plan;
  return make_encoding(raw.numerator.frame, raw.denominator.frame);
}

/// Whether rows worth `effective` can carry so many encoded columns.
void check_rows(int64_t columns, const Encoding& encoding, double effective, const RawSide& raw) {
  const auto given = static_cast<int64_t>(encoding.raw_names().size());
  const int64_t needed = rows_needed(columns);
  const bool worth_less = effective < static_cast<double>(raw.frame.rows);
  const std::string worth =
      worth_less ? text(" (worth ", count_text(effective), " after weighting)") : "";
  check_data(effective >= static_cast<double>(needed), "too few rows: ", given,
             given == 1 ? " column" : " columns",
             columns > given ? text(", ", columns, " after encoding,") : "",
             given == 1 ? " needs" : " need", " at least ", needed, " rows a side, but the ",
             raw.what, " (", raw.file, ") has ", raw.frame.rows,
             raw.copies ? " different ones" : "", worth, "; add rows",
             columns > 4 ? " or leave out columns with --drop" : "");
}

/// Indicators alone can be too many for the rows, and then for the memory, too.
void check_levels(const Encoding& encoding, const RawSide& raw) {
  const auto& all = encoding.columns();
  const auto levels = std::count_if(all.begin(), all.end(), [](const EncodedColumn& column) {
    return column.role == EncodedColumn::Role::level;
  });
  check_rows(levels, encoding, static_cast<double>(raw.frame.rows), raw);
}

nlohmann::json describe(const Samples& samples, const std::string& file) {
  Checksum checksum;
  for (const Tensor& part : {samples.x, samples.weight})
    if (part.defined()) checksum.add(part);
  return {{"file", std::filesystem::path(file).filename().string()},
          {"rows", samples.rows()},
          {"effective_rows", effective_size(samples)},
          {"crc32", checksum.hex()}};
}

nlohmann::json describe(const Samples& samples, const RawSide& raw) {
  nlohmann::json out = describe(samples, raw.file);
  if (raw.copies)
    out.update({{"rows", raw.copies->rows()}, {"different_rows", raw.copies->different()}});
  return out;
}

void describe_columns(Sides& sides) {
  sides.description["direction"] = "log(numerator / denominator)";
  sides.description["columns"] = sides.encoding.raw_names();
  sides.description["encoded_columns"] = sides.names.size();
}

void check_columns(const EncodingPlan& plan, const Strings& given, const Sides& sides) {
  check_left(!sides.names.empty(), sides);
  Strings formatted = plan.formatted;
  formatted.insert(formatted.end(), plan.formatted_levels.begin(), plan.formatted_levels.end());
  check_data(!sides.names.empty(), "no column is left to compare: ", listed(given),
             given.size() == 1 ? " holds" : " hold",
             " one value, none, or a different one in every row", format_hint(formatted));
}

/// Typed columns -> encoded ones. Of copies one row stays.
void encode_columns(RawSides& raw, bool two_files, Sides& sides) {
  // Chance is judged by counting rows, which are not alike where they have weights.
  const bool alike = !raw.numerator.weight.defined() && !raw.denominator.weight.defined();
  sides.denominator_has_weights = raw.denominator.weight.defined();
  const EncodingPlan plan = planned(raw, sides);
  use_encoding(plan, sides);
  if (alike) sides.own_levels = plan.own_levels;
  for (const RawSide* side : {&raw.numerator, &raw.denominator})
    warn_of_sampling(*side, two_files, sides);
  sides.denominator_is_sampled = raw.denominator.frame.sampled;
  sides.denominator_copies = raw.denominator.copies;
  if (raw.denominator.weight.defined())
    sides.denominator_weight = raw.denominator.weight.mean().item<double>();
  check_columns(plan, raw.names, sides);
}

/// Whether the rows can carry the columns on both sides.
void check_rows(const Sides& sides, const RawSides& raw) {
  const auto check_one = [&](const Samples& samples, const RawSide& side) {
    check_rows(samples.columns(), sides.encoding, effective_size(samples), side);
  };
  check_one(sides.numerator, raw.numerator);
  check_one(sides.denominator, raw.denominator);
}

/// Frames -> samples of both sides, as long as the rows can carry the columns.
void encode_rows(RawSides& raw, Sides& sides) {
  check_levels(sides.encoding, raw.numerator);
  check_levels(sides.encoding, raw.denominator);
  sides.numerator = encoded(raw.numerator, sides.encoding);
  sides.denominator = encoded(raw.denominator, sides.encoding);
  // In a handful of rows everything looks constant; with more, constant columns need no rows.
  const double fewest =
      std::min(effective_size(sides.numerator), effective_size(sides.denominator));
  if (fewest < static_cast<double>(rows_needed(1))) check_rows(sides, raw);
}

}  // namespace

Sides load_sides(const SidesOptions& options, int64_t seed) {
  check_options(options);
  RawSides raw = read_sides(options, seed);
  check_data(!raw.names.empty(), "no column is left to compare");
  Sides sides;
  sides.description = raw.description;
  sides.description["dropped_columns"] = nlohmann::json::array();
  encode_columns(raw, options.two_files(), sides);
  encode_rows(raw, sides);
  if (options.two_files() && options.numerator == options.denominator)
    sides.warnings.push_back({"same-file", "numerator and denominator are the same file"});
  judge_columns(sides);
  describe_columns(sides);
  sides.description["numerator"] = describe(sides.numerator, raw.numerator);
  sides.description["denominator"] = describe(sides.denominator, raw.denominator);
  if (!options.weight_column.empty()) sides.description["weight_column"] = options.weight_column;
  check_rows(sides, raw);
  return sides;
}

Sides make_sides(const Samples& numerator, const Samples& denominator, Strings names) {
  Sides sides;
  sides.numerator = as_read(make_samples(numerator.x, numerator.weight, "the numerator"));
  sides.denominator = as_read(make_samples(denominator.x, denominator.weight, "the denominator"));
  names = names_or_numbered(std::move(names), numerator.columns(), "x", "the numerator");
  check_column_names("the numbers", names);
  sides.denominator_has_weights = sides.denominator.weight.defined();
  sides.encoding = Encoding(names);
  sides.names = std::move(names);
  sides.description["dropped_columns"] = nlohmann::json::array();
  judge_columns(sides);
  describe_columns(sides);
  sides.description["numerator"] = describe(sides.numerator, "memory");
  sides.description["denominator"] = describe(sides.denominator, "memory");
  return sides;
}

}  // namespace dre
