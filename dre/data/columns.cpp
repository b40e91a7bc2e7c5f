#include "dre/data/columns.h"

#include <cstring>
#include <unordered_map>
#include <unordered_set>

#include "dre/base/error.h"
#include "dre/base/names.h"

namespace dre {
namespace {

using Positions = std::unordered_map<std::string, size_t>;

void check_apart(const char* option, const std::vector<std::string>& names,
                 const std::vector<std::string>& drop) {
  const std::unordered_set<std::string> kept(names.begin(), names.end());
  for (const auto& name : drop)
    check(kept.count(name) == 0, "column ", shown(name), " is named by --drop and by ", option,
          "; name it in one of them");
}

Positions positions_of(const std::string& file, const std::vector<std::string>& names) {
  Positions positions;
  for (size_t i = 0; i < names.size(); ++i) {
    check_data(!names[i].empty(), file, ": column ", i + 1,
               " has no name; name it, or remove it (an index column written by pandas: use "
               "index=False)");
    check_data(is_utf8(names[i]), file, ": the name of column ", i + 1, ", ", shown(names[i]),
               ", is not UTF-8 text; save the file as UTF-8");
    const auto placed = positions.emplace(names[i], i);
    check_data(placed.second, file, ": columns ", placed.first->second + 1, " and ", i + 1,
               " are both called ", shown(names[i]), "; rename one of them");
  }
  return positions;
}

size_t find_column(const std::string& file, const Positions& positions,
                   const std::vector<std::string>& names, const std::string& wanted,
                   const char* purpose) {
  const auto found = positions.find(wanted);
  check_data(found != positions.end(), file, " has no column ", shown(wanted), purpose,
             "; its columns are ", listed(names));
  return found->second;
}

std::vector<std::string> wanted_columns(const std::vector<std::string>& names,
                                        const Positions& positions, const ReadOptions& options) {
  if (options.columns.empty()) return names;
  std::vector<std::string> wanted = options.columns;
  for (const auto& name : options.columns_if_there)
    if (positions.count(name) > 0) wanted.push_back(name);
  return wanted;
}

}  // namespace

void check_distinct(const char* option, const std::vector<std::string>& names) {
  std::unordered_set<std::string> seen;
  for (const auto& name : names)
    check(seen.insert(name).second, option, " names column ", shown(name), " twice; name it once");
}

void check_column_names(const std::string& file, const std::vector<std::string>& names) {
  positions_of(file, names);
}

std::vector<std::string> names_or_numbered(std::vector<std::string> given, int64_t columns,
                                           const std::string& letter, const std::string& what) {
  if (given.empty())
    for (int64_t j = 0; j < columns; ++j) given.push_back(text(letter, j));
  check(std::ssize(given) == columns, what, " has ", columns, " columns, but ", given.size(),
        given.size() == 1 ? " name" : " names");
  return given;
}

void check_read_options(const ReadOptions& options) {
  validate(options);
  check_distinct("--columns", options.columns);
  check_distinct("--drop", options.drop);
  check_apart("--columns", options.columns, options.drop);
  check_apart("the text columns", options.texts, options.drop);
}

ColumnPlan plan_columns(const std::string& file, const std::vector<std::string>& names,
                        const ReadOptions& options) {
  const Positions positions = positions_of(file, names);
  ColumnPlan plan{
      {}, {}, std::vector<int64_t>(names.size(), -1), std::vector<int64_t>(names.size(), -1),
      {}, {}};
  const std::unordered_set<std::string> strict(options.numbers.begin(), options.numbers.end());
  std::vector<bool> taken(names.size(), false);
  for (const auto& name : options.drop)
    taken[find_column(file, positions, names, name, " to drop")] = true;
  for (const auto& name : options.texts) {
    const size_t at = find_column(file, positions, names, name, "");
    if (taken[at]) continue;  // the same text column was asked for twice
    taken[at] = true;
    plan.text_of[at] = static_cast<int64_t>(plan.texts.size());
    plan.texts.push_back(name);
  }
  for (const auto& name : wanted_columns(names, positions, options)) {
    const size_t at = find_column(file, positions, names, name, "");
    if (taken[at]) continue;
    plan.number_of[at] = static_cast<int64_t>(plan.numbers.size());
    plan.numbers.push_back(name);
    plan.keeps_words.push_back(options.words == "keep" && strict.count(name) == 0);
    plan.exact.push_back(plan.keeps_words.back() && contains(options.exact, name));
  }
  check_data(!plan.numbers.empty() || !plan.texts.empty(), file, ": all ", names.size(),
             " columns are dropped; keep at least one");
  return plan;
}

Table Block::table(const ColumnPlan& plan) && {
  const auto columns = static_cast<int64_t>(plan.numbers.size());
  Table table{plan.numbers, torch::empty({rows, columns}, torch::kFloat64), {}, std::move(words)};
  if (!numbers.empty())
    std::memcpy(table.values.data_ptr<double>(), numbers.data(), numbers.size() * sizeof(double));
  for (size_t i = 0; i < texts.size(); ++i) table.texts[plan.texts[i]] = std::move(texts[i]);
  return table;
}

void refuse_missing(const Place& place, const Advice& advice) {
  fail(Error::Kind::data, place.describe(), ": the value is missing, and ", advice.missing,
       "; fill it in or leave the row out", advice.or_drop(place.column));
}

void refuse_infinite(const Place& place, const std::string& cell, const Advice& advice) {
  fail(Error::Kind::data, place.describe(), ": ", cell,
       " is infinite or too large for a double; correct the value or leave the row out",
       advice.or_drop(place.column));
}

}  // namespace dre
