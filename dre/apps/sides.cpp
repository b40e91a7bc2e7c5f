#include "dre/apps/sides.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>
#include <set>

#include "dre/base/error.h"
#include "dre/base/names.h"
#include "dre/data/basis.h"
#include "dre/data/cell.h"
#include "dre/data/checksum.h"
#include "dre/data/column_transform.h"
#include "dre/data/place.h"
#include "dre/data/reader.h"
#include "dre/data/source.h"

namespace dre {
namespace {

using Strings = std::vector<std::string>;

bool contains(const Strings& all, const std::string& one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

/// Those of `all` that `others` does not have.
Strings without(const Strings& all, const Strings& others) {
  Strings rest;
  for (const auto& name : all)
    if (!contains(others, name)) rest.push_back(name);
  return rest;
}

bool uses_two_files(const SidesOptions& options) { return options.data.empty(); }

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
}

void check_options(const SidesOptions& options) {
  check_choice(options);
  check_roles(options);
  check(options.missing == "error", "--missing must be error, got ", shown(options.missing),
        ": this version cannot fit rows with missing values");
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

std::unique_ptr<TableReader> open_side(const std::string& path, const SidesOptions& options) {
  ReadOptions read;
  read.columns = options.columns;
  if (!read.columns.empty() && !options.weight_column.empty())
    read.columns.push_back(options.weight_column);
  read.drop = drop_from(path, options);
  if (!options.domain_column.empty()) read.texts = {options.domain_column};
  return open_table(path, read);
}

Table read_rows(TableReader& reader) {
  const auto width = std::max<int64_t>(1, static_cast<int64_t>(reader.columns().size()));
  Table all{reader.columns(), {}, {}};
  std::vector<Tensor> blocks;
  while (auto block = reader.next(std::max<int64_t>(1, (int64_t{1} << 20) / width))) {
    blocks.push_back(std::move(block->values));
    for (auto& [name, cells] : block->texts)
      std::move(cells.begin(), cells.end(), std::back_inserter(all.texts[name]));
  }
  all.values = blocks.size() == 1 ? blocks.front() : torch::cat(blocks);
  return all;
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

/// What is known of one side before its rows are judged.
struct RawSide {
  std::string what;  ///< "numerator"
  std::string file;
  Tensor x, weight;
};

void check_weights(const Tensor& weight, const std::string& file, const std::string& column) {
  const Tensor negative = (weight < 0).nonzero();
  if (negative.size(0) == 0) return;
  const int64_t row = negative[0][0].item<int64_t>();
  fail(Error::Kind::data, Place{file, row + 1, 0, column}.describe(), ": the weight ",
       weight[row].item<double>(), " is negative; weights must be 0 or more");
}

RawSide raw_side(const std::string& what, const std::string& path, const Table& table,
                 const Strings& names, const std::string& weight_column) {
  RawSide side{what, input_name(path), select_columns(table, names), {}};
  if (weight_column.empty()) return side;
  check_data(contains(table.columns, weight_column), side.file, " has no weight column ",
             shown(weight_column), "; its columns are ", listed(table.columns));
  side.weight = select_columns(table, {weight_column}).select(1, 0).contiguous();
  check_weights(side.weight, side.file, weight_column);
  return side;
}

RawSide take_rows(const RawSide& all, const std::string& what, const Tensor& rows) {
  return {what, all.file, all.x.index_select(0, rows),
          all.weight.defined() ? all.weight.index_select(0, rows) : Tensor{}};
}

struct RawSides {
  RawSide numerator, denominator;
  Strings names;
  nlohmann::json description;
};

RawSides read_two_files(const SidesOptions& options) {
  check_drops_exist(options);
  const auto first = open_side(options.numerator, options);
  const auto second = open_side(options.denominator, options);
  check_same_columns(options, first->columns(), second->columns());
  const Strings names = without(first->columns(), {options.weight_column});
  const auto read = [&](TableReader& reader, const char* what, const std::string& path) {
    const Table table = read_rows(reader);
    check_complete(table, input_name(path));
    return raw_side(what, path, table, names, options.weight_column);
  };
  return {read(*first, "numerator", options.numerator),
          read(*second, "denominator", options.denominator), names, nlohmann::json::object()};
}

/// "1.0" and "1" are the same value of a domain column.
std::string canonical(const std::string& value) {
  const Cell cell = parse_cell(trimmed(value));
  if (cell.kind != Cell::Kind::number) return std::string(trimmed(value));
  char digits[32];
  const auto end = std::to_chars(digits, digits + sizeof digits, cell.value);
  return {digits, end.ptr};
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

Strings domain_values(const Strings& cells, const SidesOptions& options) {
  std::set<std::string> distinct;
  for (size_t i = 0; i < cells.size(); ++i) {
    check_data(
        !cells[i].empty(),
        Place{input_name(options.data), static_cast<int64_t>(i) + 1, 0, options.domain_column}
            .describe(),
        ": the value is missing; every row must belong to a side");
    distinct.insert(cells[i]);
  }
  const Strings values(distinct.begin(), distinct.end());
  check_data(values.size() == 2, "the domain column ", shown(options.domain_column), " of ",
             input_name(options.data), " must have two values, it has ", values.size(), ": ",
             listed(values));
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
  const Table table = read_rows(*reader);
  check_complete(table, input_name(options.data));
  Strings cells = table.texts.at(options.domain_column);
  for (auto& cell : cells) cell = canonical(cell);
  const Strings values = domain_values(cells, options);
  const std::string numerator = choose_numerator(values, options);
  std::vector<int64_t> first, second;
  for (size_t i = 0; i < cells.size(); ++i)
    (cells[i] == numerator ? first : second).push_back(static_cast<int64_t>(i));
  const Strings names = without(table.columns, {options.weight_column});
  const RawSide all = raw_side("data", options.data, table, names, options.weight_column);
  const std::string denominator = values[0] == numerator ? values[1] : values[0];
  return {take_rows(all, "numerator", torch::tensor(first)),
          take_rows(all, "denominator", torch::tensor(second)),
          names,
          {{"domain_column", options.domain_column},
           {"numerator_value", numerator},
           {"denominator_value", denominator}}};
}

/// "a" or "a, b" with the verb that goes with it.
std::string columns_are(const Strings& names) {
  return text(names.size() == 1 ? "column " : "columns ", listed(names),
              names.size() == 1 ? " is" : " are");
}

/// Leaves out what is constant on both sides; refuses what separates them.
void judge_columns(Sides& sides) {
  const ConstantColumns found = constant_columns(sides.numerator, sides.denominator, sides.names);
  check_data(found.separated.empty(), columns_are(found.separated),
             " constant on each side, with different values: the sides never meet and the ratio is "
             "infinite; leave out with --drop ",
             join(found.separated, ","));
  if (!found.one_sided.empty())
    sides.warnings.push_back(
        {"one-sided-column", text(columns_are(found.one_sided),
                                  " constant on one side only: the ratio is infinite or zero where "
                                  "the other side has other values")});
  sides.description["dropped_columns"] = found.constant;
  if (found.constant.empty()) return;
  const Strings kept = without(sides.names, found.constant);
  check_data(!kept.empty(), "every column is constant; nothing can be compared");
  sides.warnings.push_back({"constant-column", text(columns_are(found.constant),
                                                    " constant on both sides and left out")});
  std::vector<int64_t> places;
  for (size_t j = 0; j < sides.names.size(); ++j)
    if (contains(kept, sides.names[j])) places.push_back(static_cast<int64_t>(j));
  sides.numerator.x = sides.numerator.x.index_select(1, torch::tensor(places));
  sides.denominator.x = sides.denominator.x.index_select(1, torch::tensor(places));
  sides.names = kept;
}

void check_rows(const Samples& samples, const RawSide& raw) {
  const int64_t needed = rows_needed(samples.columns());
  const double effective = effective_size(samples);
  const std::string weights =
      samples.weight.defined() ? text(" (worth ", std::floor(effective), " after weighting)") : "";
  check_data(effective >= static_cast<double>(needed), "too few rows: ", samples.columns(),
             samples.columns() == 1 ? " column needs" : " columns need", " at least ", needed,
             " rows a side, but the ", raw.what, " (", raw.file, ") has ", samples.rows(), weights,
             "; add rows", samples.columns() > 4 ? " or leave out columns with --drop" : "");
}

nlohmann::json describe(const Samples& samples, const RawSide& raw) {
  Checksum checksum;
  for (const Tensor& part : {samples.x, samples.weight})
    if (part.defined()) checksum.add(part.contiguous().data_ptr(), part.nbytes());
  return {{"file", std::filesystem::path(raw.file).filename().string()},
          {"rows", samples.rows()},
          {"effective_rows", effective_size(samples)},
          {"crc32", checksum.hex()}};
}

}  // namespace

void SidesOptions::visit(OptionVisitor& v) {
  v("numerator", numerator, {}, "file with the rows of the numerator; - is standard input");
  v("denominator", denominator, {}, "file with the rows of the denominator");
  v("data", data, {}, "one file with the rows of both sides, instead of two");
  v("domain-column", domain_column, {}, "column of --data that tells the sides apart");
  v("numerator-value", numerator_value, {},
    "value of the domain column in the numerator's rows; 1, true and numerator need not be named");
  v("columns", columns, "use only these columns");
  v("drop", drop, "leave these columns out");
  v("weight-column", weight_column, {}, "column with the weights of the rows");
  v("missing", missing, {}, "what to do with missing values; this version knows only error");
}

void check_complete(const Table& table, const std::string& file, int64_t rows_before) {
  const Tensor missing = table.values.isnan();
  if (!missing.any().item<bool>()) return;
  const Tensor first = missing.nonzero()[0];
  const int64_t row = rows_before + first[0].item<int64_t>() + 1;
  const std::string& column = table.columns[static_cast<size_t>(first[1].item<int64_t>())];
  fail(Error::Kind::data, Place{file, row, 0, column}.describe(),
       ": the value is missing, and this version knows --missing error only; fill it in, or leave "
       "the row or the column out");
}

Sides load_sides(const SidesOptions& options) {
  check_options(options);
  RawSides raw = uses_two_files(options) ? read_two_files(options) : read_one_file(options);
  check_data(!raw.names.empty(), "no column is left to compare");
  Sides sides{make_samples(raw.numerator.x, raw.numerator.weight, "the numerator"),
              make_samples(raw.denominator.x, raw.denominator.weight, "the denominator"),
              raw.names,
              raw.description,
              {}};
  // In a handful of rows everything looks constant; with more, constant columns need no rows.
  const auto check_both = [&] {
    check_rows(sides.numerator, raw.numerator);
    check_rows(sides.denominator, raw.denominator);
  };
  const double fewest =
      std::min(effective_size(sides.numerator), effective_size(sides.denominator));
  if (fewest < static_cast<double>(rows_needed(1))) check_both();
  if (uses_two_files(options) && options.numerator == options.denominator)
    sides.warnings.push_back({"same-file", "numerator and denominator are the same file"});
  judge_columns(sides);
  check_both();
  sides.description["direction"] = "log(numerator / denominator)";
  sides.description["columns"] = sides.names;
  sides.description["numerator"] = describe(sides.numerator, raw.numerator);
  sides.description["denominator"] = describe(sides.denominator, raw.denominator);
  if (!options.weight_column.empty()) sides.description["weight_column"] = options.weight_column;
  return sides;
}

}  // namespace dre
