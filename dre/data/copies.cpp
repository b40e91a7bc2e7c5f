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

/// [n]: what equal rows share, whichever table they are in. Two of a million different rows share
/// it with a probability of 3e-8.
std::vector<uint64_t> row_keys(const Frame& table, const std::vector<std::string>& columns) {
  constexpr uint64_t missing = 0x9e3779b97f4a7c15U;
  std::vector<uint64_t> keys(static_cast<size_t>(table.rows), 0);
  for (const auto& column : table.columns) {
    if (!contains(columns, column.name)) continue;
    std::vector<uint64_t> of_level;
    for (const auto& level : column.levels) of_level.push_back(std::hash<std::string>()(level));
    for (size_t i = 0; i < keys.size(); ++i) {
      uint64_t cell = missing;
      if (column.kind != Kind::category) {
        // Minus zero is zero.
        if (const double x = column.numbers[i] + 0.0; !std::isnan(x))
          cell = std::bit_cast<uint64_t>(x);
      } else if (column.codes[i] >= 0) {
        cell = of_level[static_cast<size_t>(column.codes[i])];
      }
      keys[i] = mixed(keys[i] + mixed(cell));
    }
  }
  return keys;
}

/// Equal rows.
struct Group {
  size_t first = 0;
  int64_t rows = 0;
  bool is_value = false;  ///< one that recurs

  bool are_copies() const { return rows > 1 && !is_value; }
};

using Groups = std::unordered_map<uint64_t, Group>;

Groups grouped(const std::vector<uint64_t>& keys) {
  Groups groups;
  groups.reserve(keys.size());
  for (size_t i = 0; i < keys.size(); ++i)
    ++groups.try_emplace(keys[i], Group{i}).first->second.rows;
  return groups;
}

int64_t common_divisor(const Groups& groups) {
  if (groups.size() < fewest_for_times) return 1;
  int64_t divisor = 0;
  for (const auto& [key, group] : groups) divisor = std::gcd(divisor, group.rows);
  return divisor;
}

/// Whether of these values, without the most frequent one, nearly all differ. values: sorted
bool are_continuous(const std::vector<double>& values) {
  const auto all = static_cast<double>(values.size());
  size_t different = 0, most = 0;
  for (size_t i = 0, end; i < values.size(); i = end, ++different) {
    for (end = i; end < values.size() && values[end] == values[i];) ++end;
    most = std::max(most, end - i);
  }
  const auto others = static_cast<double>(values.size() - most);
  return different > fewest_values && others >= half * all &&
         static_cast<double>(different - 1) >= nearly_all * others;
}

/// Whether the range of n different values has few places, the smallest gap apart: fewer than 20
/// for each value, and so few that independent values would be closer, as n evenly distributed ones
/// leave such a gap with probability exp(-10). values: sorted, two of them different
bool are_a_grid(const std::vector<double>& values) {
  const double range = values.back() - values.front();
  double step = range, n = 1;
  for (size_t i = 1; i < values.size(); ++i) {
    if (values[i] == values[i - 1]) continue;
    step = std::min(step, values[i] - values[i - 1]);
    ++n;
  }
  return range / step < std::min(20 * n, n * n / 10);
}

bool tell_rows_apart(const Frame& table, const std::vector<std::string>& columns,
                     const Groups& groups, int64_t times) {
  int telling = 0, without_grid = 0;
  for (const auto& column : table.columns) {
    if (column.kind == Kind::category || !contains(columns, column.name)) continue;
    std::vector<double> values;
    for (const auto& [key, group] : groups)
      if (const double x = column.numbers[group.first]; !std::isnan(x)) values.push_back(x);
    std::sort(values.begin(), values.end());
    if (!are_continuous(values)) continue;
    ++telling;
    without_grid += column.kind == Kind::number && !are_a_grid(values);
  }
  return telling >= 2 || (without_grid > 0 && times > 1);
}

Copies without_copies(const std::vector<uint64_t>& keys, const Groups& groups,
                      const Tensor& weight) {
  std::vector<int64_t> kept, like;
  std::unordered_map<uint64_t, int64_t> places;
  for (size_t i = 0; i < keys.size(); ++i) {
    const Group& group = groups.at(keys[i]);
    if (!group.are_copies() || group.first == i) {
      places[keys[i]] = static_cast<int64_t>(kept.size());
      kept.push_back(static_cast<int64_t>(i));
    }
    like.push_back(places[keys[i]]);
  }
  Copies out{kept, torch::tensor(like), {}, {}};
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

Repeats find_repeats(const Frame& table, const std::vector<std::string>& columns,
                     const Tensor& weight, const Frame* other) {
  const std::vector<uint64_t> keys = row_keys(table, columns);
  Groups groups = grouped(keys);
  if (groups.size() == keys.size()) return {};
  const int64_t times = common_divisor(groups);
  if (other != nullptr)
    for (const uint64_t key : row_keys(*other, columns))
      if (const auto found = groups.find(key); found != groups.end()) found->second.is_value = true;
  double copied = 0, repeated = 0;
  for (auto& [key, group] : groups) {
    if (static_cast<double>(group.rows) >= many * static_cast<double>(keys.size()))
      group.is_value = true;
    copied += group.are_copies();
    repeated += group.rows > 1;
  }
  if (copied < noticed * static_cast<double>(groups.size()) || copied < nearly_all * repeated ||
      !tell_rows_apart(table, columns, groups, times))
    return {{}, times};
  return {without_copies(keys, groups, weight), times};
}

}  // namespace dre
