#include "dre/apps/side_files.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>

#include "dre/base/error.h"
#include "dre/base/names.h"
#include "dre/data/cell.h"
#include "dre/data/place.h"
#include "dre/data/reader.h"
#include "dre/data/source.h"

namespace dre {
namespace {

using Strings = std::vector<std::string>;

/// Those of `all` that `others` does not have.
Strings without(const Strings& all, const Strings& others) {
  Strings rest;
  for (const auto& name : all)
    if (!contains(others, name)) rest.push_back(name);
  return rest;
}

void check_choice(const SidesOptions& options) {
  const bool two = !options.numerator.empty() || !options.denominator.empty();
  const bool one = !options.data.empty() || !options.domain_column.empty();
  check(two || one,
        "no data; give --numerator FILE and --denominator FILE, or --data FILE and --domain-column "
        "NAME");
  check(!(two && one),
        "--numerator and --denominator cannot be mixed with --data and --domain-column; give one "
        "of the two pairs");
  if (one) {
    check(!options.data.empty(), "--domain-column needs --data FILE");
    check(!options.domain_column.empty(),
          "--data needs --domain-column NAME, the column that tells numerator from denominator");
    return;
  }
  check(!options.numerator.empty(), "--numerator FILE is missing");
  check(!options.denominator.empty(), "--denominator FILE is missing");
  check(options.numerator_value.empty(), "--numerator-value needs --data and --domain-column");
  check(options.numerator != "-" || options.denominator != "-",
        "--numerator and --denominator cannot both be standard input; write one of them to a file");
}

/// The columns with a part of their own must not be named by another option as well.
void check_roles(const SidesOptions& options) {
  const auto check_role = [&](const char* option, const std::string& name) {
    if (name.empty()) return;
    check(!contains(options.drop, name), "column ", shown(name), " is named by --drop and by ",
          option, "; name it in one of them");
    check(!contains(options.columns, name), "column ", shown(name),
          " is named by --columns and by ", option, "; name it in one of them");
  };
  check_role("--weight-column", options.weight_column);
  check_role("--domain-column", options.domain_column);
  check(options.weight_column.empty() || options.weight_column != options.domain_column, "column ",
        shown(options.weight_column), " cannot be both --weight-column and --domain-column");
  for (const auto& name : options.categorical)
    check(!contains(options.numeric, name), "column ", shown(name),
          " is named by --categorical and by --numeric; name it in one of them");
}

/// Names of all columns, without reading any row; nothing for streams, which are read once only.
std::optional<Strings> peek_columns(const std::string& path) {
  if (path == "-" || is_stream(path)) return std::nullopt;
  return open_table(path)->columns();
}

/// A column to drop need not be in both files: dropping what only one has is how they are matched.
Strings drop_from(const std::string& path, const SidesOptions& options) {
  const auto existing = peek_columns(path);
  if (!existing || !uses_two_files(options)) return options.drop;
  return without(options.drop, without(options.drop, *existing));
}

void check_drops_exist(const SidesOptions& options) {
  const auto first = peek_columns(options.numerator), second = peek_columns(options.denominator);
  if (!first || !second) return;
  for (const auto& name : options.drop)
    check_data(contains(*first, name) || contains(*second, name), "--drop names column ",
               shown(name), ", which neither ", options.numerator, " nor ", options.denominator,
               " has; their columns are ", listed(*first));
}

/// The weight column, or nothing where this file has none and the other one does: rows without
/// weights count once.
std::string weight_column_in(const std::string& path, const SidesOptions& options) {
  if (options.weight_column.empty() || !uses_two_files(options)) return options.weight_column;
  const auto own = peek_columns(path);
  const auto other =
      peek_columns(path == options.numerator ? options.denominator : options.numerator);
  const bool missing_here = own && !contains(*own, options.weight_column);
  return missing_here && (!other || contains(*other, options.weight_column))
             ? ""
             : options.weight_column;
}

Advice advice_for(const SidesOptions& options) {
  Advice advice{"--drop", options.numeric, "--missing error refuses that"};
  if (!options.columns.empty()) advice.drop_flag = "";
  advice.needed.insert(advice.needed.end(), {options.weight_column, options.domain_column});
  return advice;
}

std::unique_ptr<TableReader> open_side(const std::string& path, const SidesOptions& options) {
  ReadOptions read;
  read.columns = options.columns;
  const std::string weight = weight_column_in(path, options);
  if (!read.columns.empty() && !weight.empty()) read.columns.push_back(weight);
  read.drop = drop_from(path, options);
  read.missing = options.missing == "error" ? "error" : "keep";
  read.words = "keep";
  read.numbers = options.numeric;
  read.advice = advice_for(options);
  if (!weight.empty()) read.numbers.push_back(weight);
  if (!read.columns.empty() && !options.domain_column.empty())
    read.columns.push_back(options.domain_column);
  return open_table(path, read);
}

/// "1.0" and "1" are the same value of a domain column.
std::string canonical(const std::string& value) {
  const Cell cell = parse_cell(trimmed(value));
  return cell.kind == Cell::Kind::number ? number_text(cell.value) : std::string(trimmed(value));
}

/// All rows, or a random sample of at most `max_rows` of them.
Frame read_frame(TableReader& reader, const std::string& path, const SidesOptions& options,
                 int64_t max_rows) {
  FrameOptions frame;
  frame.categories = options.categorical;
  if (!options.domain_column.empty()) frame.categories.push_back(options.domain_column);
  frame.max_rows = max_rows;
  frame.advice = advice_for(options);
  FrameBuilder builder(input_name(path), reader.columns(), frame);
  const auto width = std::max<int64_t>(1, static_cast<int64_t>(reader.columns().size()));
  while (const auto block = reader.next(std::max<int64_t>(1, (int64_t{1} << 20) / width)))
    builder.add(*block);
  return std::move(builder).finish();
}

void check_types_exist(const SidesOptions& options, const Strings& columns,
                       const std::string& path) {
  const auto check_all = [&](const char* option, const Strings& names) {
    for (const auto& name : names)
      check_data(contains(columns, name), option, " names column ", shown(name), ", which ",
                 input_name(path), " has not; its columns are ", listed(columns));
  };
  check_all("--categorical", options.categorical);
  check_all("--numeric", options.numeric);
}

void check_same_columns(const SidesOptions& options, const Strings& first, const Strings& second) {
  const Strings only_first = without(first, second), only_second = without(second, first);
  if (only_first.empty() && only_second.empty()) return;
  Strings parts;
  if (!only_first.empty())
    parts.push_back(text("only ", input_name(options.numerator), " has ", listed(only_first)));
  if (!only_second.empty())
    parts.push_back(text("only ", input_name(options.denominator), " has ", listed(only_second)));
  fail(Error::Kind::data, "the two files have different columns: ", join(parts, "; "),
       "; choose common ones with --columns, or leave these out with --drop");
}

void check_weights(const RawSide& side, const std::string& column) {
  const Tensor bad = (side.weight >= 0).logical_not().nonzero();  // NaN is bad too
  if (bad.size(0) == 0) return;
  const int64_t row = bad[0][0].item<int64_t>();
  const double value = side.weight[row].item<double>();
  fail(Error::Kind::data, side.place(row, column).describe(), ": the weight ",
       std::isnan(value) ? "is missing" : text(value, " is negative"),
       "; weights must be 0 or more");
}

/// Removes a column that has a part of its own from the frame.
TypedColumn take_out(Frame& frame, const std::string& name, const std::string& file,
                     const char* part) {
  auto& columns = frame.columns;
  const auto found = std::find_if(columns.begin(), columns.end(),
                                  [&](const TypedColumn& column) { return column.name == name; });
  if (found == columns.end()) {
    Strings names;
    for (const auto& column : columns) names.push_back(column.name);
    fail(Error::Kind::data, file, " has no ", part, " column ", shown(name), "; its columns are ",
         listed(names));
  }
  TypedColumn column = std::move(*found);
  columns.erase(found);
  return column;
}

RawSide raw_side(const std::string& what, const std::string& path, Frame frame,
                 const std::string& weight_column) {
  RawSide side{what, input_name(path), std::move(frame), {}};
  if (weight_column.empty()) return side;
  const TypedColumn weight = take_out(side.frame, weight_column, side.file, "weight");
  side.weight = torch::tensor(weight.numbers, torch::kFloat64);
  check_weights(side, weight_column);
  return side;
}

/// The rows of one side of a file that has both.
RawSide take_rows(const RawSide& all, const std::string& what, const Tensor& rows) {
  return {what, all.file, all.frame.take(rows),
          all.weight.defined() ? all.weight.index_select(0, rows) : Tensor{}};
}

/// The columns of `frame` in the order of `names`.
Frame ordered(Frame frame, const Strings& names) {
  std::unordered_map<std::string, size_t> place;
  for (size_t i = 0; i < names.size(); ++i) place[names[i]] = i;
  std::sort(frame.columns.begin(), frame.columns.end(),
            [&](const TypedColumn& a, const TypedColumn& b) {
              return place.at(a.name) < place.at(b.name);
            });
  return frame;
}

RawSides read_two_files(const SidesOptions& options) {
  check_drops_exist(options);
  const auto first = open_side(options.numerator, options);
  const auto second = open_side(options.denominator, options);
  const Strings names = without(first->columns(), {options.weight_column});
  check_same_columns(options, names, without(second->columns(), {options.weight_column}));
  const auto read = [&](TableReader& reader, const char* what, const std::string& path) {
    check_types_exist(options, reader.columns(), path);
    RawSide side = raw_side(what, path, read_frame(reader, path, options, options.max_rows),
                            weight_column_in(path, options));
    side.frame = ordered(std::move(side.frame), names);
    return side;
  };
  return {read(*first, "numerator", options.numerator),
          read(*second, "denominator", options.denominator), names, nlohmann::json::object()};
}

std::string lower(std::string word) {
  std::transform(word.begin(), word.end(), word.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  return word;
}

/// The value that means "numerator" by custom; empty where the two do not tell.
std::string customary_numerator(const Strings& values) {
  const std::vector<std::pair<const char*, const char*>> customs = {
      {"1", "0"}, {"1", "-1"}, {"true", "false"}, {"numerator", "denominator"}};
  for (const auto& [numerator, denominator] : customs)
    for (const int i : {0, 1})
      if (lower(values[i]) == numerator && lower(values[1 - i]) == denominator) return values[i];
  return "";
}

Strings domain_values(const TypedColumn& domain, const Frame& frame, const SidesOptions& options) {
  const auto missing = std::find(domain.codes.begin(), domain.codes.end(), -1);
  if (missing != domain.codes.end()) {
    const int64_t row = frame.file_rows[static_cast<size_t>(missing - domain.codes.begin())];
    fail(Error::Kind::data,
         Place{input_name(options.data), row, 0, options.domain_column}.describe(),
         ": the value is missing; every row must belong to a side");
  }
  Strings values = domain.levels;
  std::sort(values.begin(), values.end());
  check_data(
      values.size() == 2, "the domain column ", shown(options.domain_column), " of ",
      input_name(options.data), " must have two values, it has ",
      domain.id_like ? "a different one in most rows" : text(values.size(), ": ", listed(values)));
  for (const auto& value : values)
    check_data(is_utf8(value), "the value ", shown(value), " of the domain column ",
               shown(options.domain_column), " is not UTF-8 text; save the file as UTF-8");
  return values;
}

std::string choose_numerator(const Strings& values, const SidesOptions& options) {
  if (options.numerator_value.empty()) {
    const std::string custom = customary_numerator(values);
    check(!custom.empty(), "the domain column ", shown(options.domain_column), " has the values ",
          listed(values), "; say with --numerator-value which of them is the numerator");
    return custom;
  }
  const std::string asked = canonical(options.numerator_value);
  check(contains(values, asked), "--numerator-value is ", shown(options.numerator_value),
        ", but the domain column ", shown(options.domain_column), " has the values ",
        listed(values));
  return asked;
}

RawSides read_one_file(const SidesOptions& options) {
  const auto reader = open_side(options.data, options);
  check_types_exist(options, reader->columns(), options.data);
  Frame frame = read_frame(*reader, options.data, options, 2 * options.max_rows);
  const TypedColumn domain =
      take_out(frame, options.domain_column, input_name(options.data), "domain");
  const Strings values = domain_values(domain, frame, options);
  const std::string numerator = choose_numerator(values, options);
  std::vector<int64_t> first, second;
  for (size_t i = 0; i < domain.codes.size(); ++i) {
    const std::string& value = domain.levels[static_cast<size_t>(domain.codes[i])];
    (value == numerator ? first : second).push_back(static_cast<int64_t>(i));
  }
  const RawSide all = raw_side("data", options.data, std::move(frame), options.weight_column);
  Strings names;
  for (const auto& column : all.frame.columns) names.push_back(column.name);
  const std::string denominator = values[0] == numerator ? values[1] : values[0];
  return {take_rows(all, "numerator", torch::tensor(first)),
          take_rows(all, "denominator", torch::tensor(second)),
          names,
          {{"domain_column", options.domain_column},
           {"numerator_value", numerator},
           {"denominator_value", denominator}}};
}

}  // namespace

Place RawSide::place(int64_t row, const std::string& column) const {
  return {file, frame.file_rows[static_cast<size_t>(row)], 0, column};
}

bool uses_two_files(const SidesOptions& options) { return options.data.empty(); }

void check_options(const SidesOptions& options) {
  validate(options);
  check_choice(options);
  check_roles(options);
}

RawSides read_sides(const SidesOptions& options) {
  return uses_two_files(options) ? read_two_files(options) : read_one_file(options);
}

}  // namespace dre
