#include "dre/apps/side_files.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>

#include "dre/apps/typed_table.h"
#include "dre/base/error.h"
#include "dre/base/names.h"
#include "dre/data/cell.h"
#include "dre/data/frame_pair.h"
#include "dre/data/frames_by_value.h"
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

/// Columns whose kind is given must not be left out by another option.
void check_kinds(const char* option, const Strings& names, const SidesOptions& options) {
  for (const auto& name : names) {
    check(!contains(options.drop, name), "column ", shown(name), " is named by --drop and by ",
          option, "; name it in one of them");
    const bool read = options.columns.empty() || contains(options.columns, name) ||
                      name == options.weight_column || name == options.domain_column;
    check(read, option, " names column ", shown(name),
          ", which --columns leaves out; name it in both, or in none of them");
  }
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
  check(options.weight_column.empty() || !contains(options.categorical, options.weight_column),
        "column ", shown(options.weight_column),
        " is named by --weight-column and by --categorical; weights are numbers");
  for (const auto& name : options.categorical)
    check(!contains(options.numeric, name), "column ", shown(name),
          " is named by --categorical and by --numeric; name it in one of them");
  check_kinds("--categorical", options.categorical, options);
  check_kinds("--numeric", options.numeric, options);
}

/// Names of all columns, without reading any row; nothing for streams, which are read once only.
std::optional<Strings> peek_columns(const std::string& path) {
  if (path == "-" || is_stream(path)) return std::nullopt;
  return open_table(path)->columns();
}

/// A column to drop need not be in both files: dropping what only one has is how they are matched.
Strings drop_from(const std::string& path, const SidesOptions& options) {
  const auto existing = peek_columns(path);
  if (!existing || !options.two_files()) return options.drop;
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

Advice advice_for(const SidesOptions& options) {
  Advice advice{options.columns.empty() ? "--drop" : "", options.numeric};
  advice.needed.insert(advice.needed.end(), {options.weight_column, options.domain_column});
  return advice;
}

std::unique_ptr<TableReader> open_side(const std::string& path, const SidesOptions& options) {
  ReadOptions read = read_options(options, advice_for(options));
  read.columns = options.columns;
  read.drop = drop_from(path, options);
  if (!options.weight_column.empty()) {
    read.columns_if_there = {options.weight_column};
    read.numbers.push_back(options.weight_column);
  }
  if (!read.columns.empty() && !options.domain_column.empty())
    read.columns.push_back(options.domain_column);
  return open_table(path, read);
}

/// "1.0" and "1" are the same value of a domain column.
std::string canonical(const std::string& value) {
  const Cell cell = parse_cell(trimmed(value));
  return cell.kind == Cell::Kind::number ? number_text(cell.value) : std::string(trimmed(value));
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

void check_has(const Strings& columns, const char* part, const std::string& name,
               const std::string& path) {
  check_data(contains(columns, name), input_name(path), " has no ", part, " column ", shown(name),
             "; its columns are ", listed(columns));
}

/// Removes the weights from the frame, which has them.
TypedColumn take_weights(Frame& frame, const std::string& name) {
  const auto found = std::find_if(frame.columns.begin(), frame.columns.end(),
                                  [&](const TypedColumn& column) { return column.name == name; });
  TypedColumn column = std::move(*found);
  frame.columns.erase(found);
  return column;
}

RawSide raw_side(const std::string& what, const std::string& path, Frame frame,
                 const std::string& weight_column) {
  RawSide side{what, input_name(path), std::move(frame), {}};
  if (weight_column.empty()) return side;
  const TypedColumn weight = take_weights(side.frame, weight_column);
  side.weight = torch::tensor(weight.numbers, torch::kFloat64);
  check_weights(side, weight_column);
  return side;
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

RawSides read_two_files(const SidesOptions& options, int64_t seed) {
  check_drops_exist(options);
  const auto first = open_side(options.numerator, options);
  const auto second = open_side(options.denominator, options);
  const Strings names = without(first->columns(), {options.weight_column});
  check_same_columns(options, names, without(second->columns(), {options.weight_column}));
  const bool weighted = contains(first->columns(), options.weight_column) ||
                        contains(second->columns(), options.weight_column);
  if (!options.weight_column.empty() && !weighted)
    check_has(first->columns(), "weight", options.weight_column, options.numerator);
  const auto read = [&](TableReader& reader, const char* what, const std::string& path) {
    check_types_exist(options, reader.columns(), path);
    // Rows of a file without weights count once.
    const bool has_weights = contains(reader.columns(), options.weight_column);
    const std::string weight = has_weights ? options.weight_column : "";
    FrameOptions frame = frame_options(options, seed, advice_for(options));
    frame.sample = what;
    RawSide side = raw_side(what, path, read_frame(reader, path, frame), weight);
    side.frame = ordered(std::move(side.frame), names);
    return side;
  };
  RawSides sides{read(*first, "numerator", options.numerator),
                 read(*second, "denominator", options.denominator), names,
                 nlohmann::json::object()};
  const RawSide &numerator = sides.numerator, &denominator = sides.denominator;
  const Advice advice = advice_for(options);
  for (size_t at = 0; at < names.size(); ++at) {
    refuse_exceptions_in(numerator.file, numerator.frame, denominator.frame, at, advice);
    refuse_exceptions_in(denominator.file, denominator.frame, numerator.frame, at, advice);
  }
  return sides;
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

RawSides read_one_file(const SidesOptions& options, int64_t seed) {
  const auto reader = open_side(options.data, options);
  check_types_exist(options, reader->columns(), options.data);
  check_has(reader->columns(), "domain", options.domain_column, options.data);
  if (!options.weight_column.empty())
    check_has(reader->columns(), "weight", options.weight_column, options.data);
  FramesByValue parts(input_name(options.data), reader->columns(), options.domain_column,
                      frame_options(options, seed, advice_for(options)));
  while (const auto block = next_block(*reader)) parts.add(*block);
  auto frames = std::move(parts).finish();
  const Strings values{frames.begin()->first, frames.rbegin()->first};
  const std::string numerator = choose_numerator(values, options);
  const std::string denominator = values[0] == numerator ? values[1] : values[0];
  const auto side = [&](const char* what, const std::string& value) {
    return raw_side(what, options.data, std::move(frames.at(value)), options.weight_column);
  };
  return {side("numerator", numerator),
          side("denominator", denominator),
          without(reader->columns(), {options.domain_column, options.weight_column}),
          {{"domain_column", options.domain_column},
           {"numerator_value", numerator},
           {"denominator_value", denominator}}};
}

}  // namespace

Place RawSide::place(int64_t row, const std::string& column) const {
  return {file, frame.file_rows[static_cast<size_t>(row)], 0, column};
}

void check_options(const SidesOptions& options) {
  validate(options);
  check_choice(options);
  check_roles(options);
}

RawSides read_sides(const SidesOptions& options, int64_t seed) {
  return options.two_files() ? read_two_files(options, seed) : read_one_file(options, seed);
}

}  // namespace dre
