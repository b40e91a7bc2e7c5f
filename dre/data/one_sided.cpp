#include "dre/data/one_sided.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "dre/base/error.h"
#include "dre/data/place.h"

namespace dre {
namespace {

constexpr size_t most_named = 5;
constexpr double hardly_any = 0.1;      // of the rows that levels of both sides should have
constexpr double chance_of_one = 0.01;  // that one level of the column is one-sided

double log_sum(double a, double b) {
  return std::max(a, b) + std::log1p(std::exp(-std::abs(a - b)));
}

/// Rare levels that have rows on one side only. If each row of a rare level is of this side with
/// probability `share`, all n rows of a level are with share^n.
class Alone {
 public:
  explicit Alone(double share) : log_share_(std::log(share)) {}

  void add(int64_t rows, bool alone) {
    ++levels_[rows];
    if (!alone) return;
    ++seen_levels_;
    seen_ += static_cast<double>(rows);
  }

  double seen() const { return seen_; }
  double expected() const {
    return sum_over_levels([](double n, double all) { return n * all; });
  }
  bool stands_out() const { return log_chance() < std::log(chance_of_own_levels); }
  int64_t levels() const { return stands_out() ? seen_levels_ : 0; }
  int64_t own_rows() const { return stands_out() ? std::llround(seen_) : 0; }
  /// More than chance explains but in one of forty columns.
  double rows() const {
    return stands_out() ? std::max(seen_ - expected() - 2 * standard_error(), 0.0) : 0;
  }

 private:
  double sum_over_levels(const std::function<double(double n, double all)>& term) const {
    double sum = 0;
    for (const auto& [rows, levels] : levels_) {
      const auto n = static_cast<double>(rows);
      sum += static_cast<double>(levels) * term(n, std::exp(n * log_share_));
    }
    return sum;
  }

  double standard_error() const {
    return std::sqrt(sum_over_levels([](double n, double all) { return n * n * all * (1 - all); }));
  }

  /// Chernoff's bound on the logarithm of the chance of so many rows or more: the least value of
  /// log E[exp(t (rows - seen))], which is convex in t.
  double log_chance() const {
    if (seen_ <= expected()) return 0;
    double low = 0, high = 20;
    for (int i = 0; i < 100; ++i) {
      const double third = (high - low) / 3;
      if (log_moment(low + third) < log_moment(high - third))
        high -= third;
      else
        low += third;
    }
    return log_moment(low);
  }

  double log_moment(double t) const {
    return sum_over_levels([&](double n, double all) {
             return log_sum(std::log1p(-all), n * (log_share_ + t));
           }) -
           t * seen_;
  }

  double log_share_;
  std::map<int64_t, int64_t> levels_;  ///< how many have so many rows
  double seen_ = 0;
  int64_t seen_levels_ = 0;
};

LevelCount total(const LevelCounts& counts, const std::set<std::string>& left_out) {
  LevelCount sum;
  for (const auto& [level, count] : counts) {
    if (left_out.count(level) > 0) continue;
    sum.numerator += count.numerator;
    sum.denominator += count.denominator;
  }
  return sum;
}

double numerator_share(const LevelCount& count) {
  return static_cast<double>(count.numerator) / static_cast<double>(count.both());
}

std::string with_rows(const std::string& what, const LevelCount& rows) {
  return text(what, " (", rows.describe(), ")");
}

}  // namespace

std::string LevelCount::describe() const {
  const auto rows = [](int64_t count) { return text(count, count == 1 ? " row" : " rows"); };
  if (denominator == 0) return rows(numerator) + " of the numerator";
  if (numerator == 0) return rows(denominator) + " of the denominator";
  return text(rows(numerator), " of the numerator and ", denominator, " of the denominator");
}

OneSidedLevels find_one_sided(const std::string& column, const LevelCounts& counts,
                              const std::set<std::string>& visible) {
  const LevelCount all = total(counts, {}), hidden = total(counts, visible);
  OneSidedLevels found;
  if (all.one_sided()) return found;  // all missing on one side
  const double share = numerator_share(all);
  std::set<std::string> named;
  for (const auto& [level, count] : counts) {
    const double by_chance =
        std::pow(count.numerator > 0 ? share : 1 - share, static_cast<double>(count.both()));
    if (count.one_sided() && by_chance * static_cast<double>(counts.size()) < chance_of_one)
      named.insert(level);
  }
  LevelCount of_named;
  for (const auto& level : named) {
    const LevelCount& rows = counts.at(level);
    found.names.push_back(with_rows(column + " = " + printable(level), rows));
    of_named.numerator += rows.numerator;
    of_named.denominator += rows.denominator;
  }
  if (named.size() > most_named)
    found.names = {with_rows(text(named.size(), " levels of ", column), of_named)};
  if (hidden.one_sided()) return found;  // then so is the level that pools them
  Alone top(numerator_share(hidden)), bottom(1 - numerator_share(hidden));
  for (const auto& [level, count] : counts) {
    if (visible.count(level) > 0) continue;
    top.add(count.both(), count.denominator == 0);
    bottom.add(count.both(), count.numerator == 0);
  }
  found.numerator = top.rows();
  found.denominator = bottom.rows();
  const auto rare_rows = static_cast<double>(hidden.both());
  found.nothing_shared = rare_rows - top.seen() - bottom.seen() <
                         hardly_any * (rare_rows - top.expected() - bottom.expected());
  if (const int64_t rare = top.levels() + bottom.levels(); rare > 0)
    found.names.push_back(
        with_rows(text(rare, " rare levels of ", column), {top.own_rows(), bottom.own_rows()}));
  return found;
}

}  // namespace dre
