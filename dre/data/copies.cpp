#include "dre/data/copies.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <numeric>
#include <unordered_map>

#include "dre/base/names.h"

namespace dre {
namespace {

using Kind = TypedColumn::Kind;

constexpr double many = 0.05;  // of the rows: a point mass
constexpr size_t fewest_values = 50, fewest_for_times = 30;
constexpr double nearly_all = 0.9, half = 0.5, noticed = 0.01;

/// Spreads the bits of a number over all of them (splitmix64).
uint64_t mixed(uint64_t bits) {
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9U;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebU;
  return bits ^ (bits >> 31);
}

/// [n]: what equal values share, whichever table they are in.
std::vector<uint64_t> cell_keys(const TypedColumn& column, size_t rows) {
  constexpr uint64_t missing = 0x9e3779b97f4a7c15U;
  std::vector<uint64_t> of_level, keys(rows, missing);
  for (const auto& level : column.levels) of_level.push_back(std::hash<std::string>()(level));
  for (size_t i = 0; i < rows; ++i) {
    if (column.kind != Kind::category) {
      // Minus zero is zero.
      if (const double x = column.numbers[i] + 0.0; !std::isnan(x))
        keys[i] = std::bit_cast<uint64_t>(x);
    } else if (column.codes[i] >= 0) {
      keys[i] = of_level[static_cast<size_t>(column.codes[i])];
    }
  }
  return keys;
}

/// [n]: what equal rows share, whichever table they are in. Two of a million different rows share
/// it with a probability of 3e-8.
std::vector<uint64_t> row_keys(const Frame& table, const std::vector<std::string>& columns) {
  std::vector<uint64_t> keys(static_cast<size_t>(table.rows), 0);
  for (const auto& column : table.columns) {
    if (!contains(columns, column.name)) continue;
    const std::vector<uint64_t> cells = cell_keys(column, keys.size());
    for (size_t i = 0; i < keys.size(); ++i) keys[i] = mixed(keys[i] + mixed(cells[i]));
  }
  return keys;
}

/// Equal rows, of one table when it is there several times.
struct Group {
  size_t first = 0;
  int64_t rows = 0;
  bool is_value = false;  ///< one that recurs

  bool are_copies() const { return rows > 1 && !is_value; }
  int64_t without_copies() const { return are_copies() ? 1 : rows; }
};

using Groups = std::unordered_map<uint64_t, Group>;

Groups grouped(const std::vector<uint64_t>& keys) {
  Groups groups;
  groups.reserve(keys.size());
  for (size_t i = 0; i < keys.size(); ++i)
    ++groups.try_emplace(keys[i], Group{i}).first->second.rows;
  return groups;
}

/// Whether each value of every column is in equally many different rows, and some are in several.
bool have_even_columns(const Frame& table, const std::vector<std::string>& columns,
                       const Groups& groups) {
  bool some_recur = false;
  for (const auto& column : table.columns) {
    if (!contains(columns, column.name)) continue;
    const std::vector<uint64_t> cells = cell_keys(column, static_cast<size_t>(table.rows));
    std::unordered_map<uint64_t, int64_t> counts;
    for (const auto& [key, group] : groups) ++counts[cells[group.first]];
    const int64_t each = counts.begin()->second;
    if (std::any_of(counts.begin(), counts.end(),
                    [&](const auto& count) { return count.second != each; }))
      return false;
    some_recur |= each > 1;
  }
  return some_recur;
}

/// How often the whole table is there.
int64_t times_there(const Frame& table, const std::vector<std::string>& columns,
                    const Groups& groups) {
  if (groups.size() < fewest_for_times) return 1;
  int64_t times = 0;
  for (const auto& [key, group] : groups) times = std::gcd(times, group.rows);
  const bool is_design = times * static_cast<int64_t>(groups.size()) == table.rows &&
                         have_even_columns(table, columns, groups);
  return is_design ? 1 : times;
}

/// Whether of these values, without the most frequent one, nearly all differ.
bool are_continuous(std::vector<double> values) {
  const auto all = static_cast<double>(values.size());
  std::sort(values.begin(), values.end());
  size_t different = 0, most = 0;
  for (size_t i = 0, end; i < values.size(); i = end, ++different) {
    for (end = i; end < values.size() && values[end] == values[i];) ++end;
    most = std::max(most, end - i);
  }
  const auto others = static_cast<double>(values.size() - most);
  return different > fewest_values && others >= half * all &&
         static_cast<double>(different - 1) >= nearly_all * others;
}

bool tell_rows_apart(const Frame& table, const std::vector<std::string>& columns,
                     const Groups& groups) {
  int telling = 0;
  for (const auto& column : table.columns) {
    if (column.kind == Kind::category || !contains(columns, column.name)) continue;
    std::vector<double> values;
    for (const auto& [key, group] : groups)
      if (const double x = column.numbers[group.first]; !std::isnan(x)) values.push_back(x);
    telling += are_continuous(std::move(values));
  }
  return telling >= 2;
}

/// Whether equal rows are copies, where they are not values: not where they may be equal by chance.
bool has_copies(const Frame& table, const std::vector<std::string>& columns, const Groups& groups) {
  double copied = 0, repeated = 0;
  for (const auto& [key, group] : groups) {
    copied += group.are_copies();
    repeated += group.rows > 1;
  }
  return copied > 0 && copied >= noticed * static_cast<double>(groups.size()) &&
         copied >= nearly_all * repeated && tell_rows_apart(table, columns, groups);
}

Copies without_copies(const std::vector<uint64_t>& keys, const Groups& groups, int64_t times,
                      const Tensor& weight) {
  struct Seen {
    int64_t rows = 0;
    std::vector<int64_t> kept;  // places
  };
  std::vector<int64_t> kept, like;
  std::unordered_map<uint64_t, Seen> groups_seen;
  for (size_t i = 0; i < keys.size(); ++i) {
    Seen& seen = groups_seen[keys[i]];
    const int64_t stay = groups.at(keys[i]).without_copies();
    if (seen.rows < stay) {
      seen.kept.push_back(static_cast<int64_t>(kept.size()));
      kept.push_back(static_cast<int64_t>(i));
    }
    // Each of those that stay stands for as many.
    like.push_back(seen.kept[static_cast<size_t>(seen.rows++ % stay)]);
  }
  Copies out{kept, torch::tensor(like), {}, {}, times};
  const Tensor own =
      weight.defined() ? weight.to(torch::kFloat64) : torch::ones({out.rows()}, torch::kFloat64);
  const auto sums = [&](const Tensor& each) {
    return torch::zeros({static_cast<int64_t>(kept.size())}, torch::kFloat64)
        .index_add_(0, out.like, each);
  };
  out.weight = sums(own);
  const Tensor total = out.weight.index_select(0, out.like);
  const Tensor count = sums(torch::ones_like(own)).index_select(0, out.like);
  out.share = torch::where(total > 0, own / total, 1 / count);
  return out;
}

}  // namespace

std::optional<Copies> find_copies(const Frame& table, const std::vector<std::string>& columns,
                                  const Tensor& weight, const Frame* other) {
  const std::vector<uint64_t> keys = row_keys(table, columns);
  Groups groups = grouped(keys);
  if (groups.size() == keys.size()) return {};
  if (other != nullptr)
    for (const uint64_t key : row_keys(*other, columns))
      if (const auto found = groups.find(key); found != groups.end()) found->second.is_value = true;
  const int64_t times = times_there(table, columns, groups);
  for (auto& [key, group] : groups) {
    if (static_cast<double>(group.rows) >= many * static_cast<double>(keys.size()))
      group.is_value = true;
    group.rows /= times;
  }
  if (!has_copies(table, columns, groups)) {
    if (times == 1) return {};
    for (auto& [key, group] : groups) group.is_value = true;
  }
  return without_copies(keys, groups, times, weight);
}

}  // namespace dre
