#include "dre/apps/support.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "dre/base/error.h"
#include "dre/data/planes.h"
#include "dre/numeric/statistics.h"

namespace dre {
namespace {

using Role = EncodedColumn::Role;

constexpr double chance = chance_of_beyond / 6;  // two sides, by number, by rule and by level

/// Indicators, and for each category the level that has none of its own: [n] each.
std::vector<Tensor> indicators(const Samples& side, const Encoding& encoding) {
  std::vector<Tensor> out, rest(encoding.raw().size());
  for (size_t j = 0; j < encoding.columns().size(); ++j) {
    const EncodedColumn& column = encoding.columns()[j];
    if (column.role == Role::value) continue;
    out.push_back(side.x.select(1, static_cast<int64_t>(j)));
    if (encoding.raw()[column.source].kind != TypedColumn::Kind::category) continue;
    Tensor& left = rest[column.source];
    left = (left.defined() ? left : torch::ones_like(out.back())) - out.back();
  }
  for (const Tensor& left : rest)
    if (left.defined()) out.push_back(left);
  return out;
}

std::vector<Tensor> values(const Samples& side, const Encoding& encoding) {
  std::vector<Tensor> out;
  for (size_t j = 0; j < encoding.columns().size(); ++j)
    if (encoding.columns()[j].role == Role::value)
      out.push_back(side.x.select(1, static_cast<int64_t>(j)));
  return out;
}

/// The same, NaN where a value is missing: what stands for it there is of both sides.
std::vector<Tensor> known_values(const Samples& side, const Encoding& encoding) {
  std::vector<Tensor> missing(encoding.raw().size());
  for (size_t j = 0; j < encoding.columns().size(); ++j)
    if (encoding.columns()[j].role == Role::missing)
      missing[encoding.columns()[j].source] = side.x.select(1, static_cast<int64_t>(j)) != 0;
  std::vector<Tensor> out = values(side, encoding);
  auto next = out.begin();
  for (const EncodedColumn& column : encoding.columns()) {
    if (column.role != Role::value) continue;
    if (missing[column.source].defined()) *next = next->masked_fill(missing[column.source], NAN);
    ++next;
  }
  return out;
}

Tensor known(const Tensor& column) { return column.masked_select(column.isnan().logical_not()); }

/// Whether this chance is too small for as many tries as there are ends of so many columns.
bool is_improbable(double log_chance, size_t columns) {
  return log_chance <= std::log(chance / (2.0 * static_cast<double>(columns)));
}

/// Log of the chance that `count` rows are all of one side, of laws that are equal; own, others:
/// rows of the sides.
double log_chance_of_equal_laws(double count, double own, double others) {
  return count * std::log(own / (own + others));
}

/// The same at the odds near the end of the other side, among its twenty largest values: of all
/// orders of the rows there and beyond, in how many are `count` the first? own, others: [n].
double log_chance_near_end(double count, const Tensor& own, const Tensor& others) {
  constexpr int64_t nearest = 20;
  const Tensor largest = std::get<0>(others.topk(std::min(nearest, others.size(0))));
  const Tensor from = largest[-1], to = largest[0];
  const double near = ((own >= from).logical_and(own <= to)).sum().item<double>();
  const double there = (others >= from).sum().item<double>();
  return std::lgamma(near + there) + std::lgamma(near + count + 1) - std::lgamma(near + 1) -
         std::lgamma(near + count + there);
}

struct Beyond {
  Tensor rows;  ///< [n] bool
  int64_t ends;
};

/// What rows beyond an end are held against: equal laws, which any difference refutes, or the odds
/// of the sides near that end, which only an end refutes.
enum class Against { equal_laws, odds_nearby };

/// own, others: a tensor a column, NaN where there is no value.
Beyond beyond(const Samples& side, const std::vector<Tensor>& own,
              const std::vector<Tensor>& others, Against against) {
  Beyond found{torch::zeros({side.rows()}, torch::kBool), 0};
  for (size_t j = 0; j < own.size(); ++j) {
    const Tensor there = known(others[j]);
    if (there.size(0) == 0) continue;  // that there is none is told by an indicator
    const Tensor counts = (side.weights() > 0).logical_and(own[j].isnan().logical_not());
    const Tensor here = own[j].masked_select(counts);
    for (const double sign : {1.0, -1.0}) {
      const Tensor out = (sign * own[j] > (sign * there).max()).logical_and(counts);
      const auto count = out.sum().item<double>();
      if (count == 0) continue;
      double log_chance = log_chance_of_equal_laws(count, static_cast<double>(here.size(0)),
                                                   static_cast<double>(there.size(0)));
      if (against == Against::odds_nearby)
        log_chance = std::max(log_chance, log_chance_near_end(count, sign * here, sign * there));
      if (!is_improbable(log_chance, own.size())) continue;
      found.rows.logical_or_(out);
      ++found.ends;
    }
  }
  return found;
}

/// Rows that break a rule which all others keep, an end for each rule.
Beyond rule_breakers(const Samples& side, const Samples& others, const Encoding& encoding) {
  Beyond found{torch::zeros({side.rows()}, torch::kBool), 0};
  const std::vector<Tensor> own = values(side, encoding), there = values(others, encoding);
  if (own.empty()) return found;
  const Tensor off = off_planes(torch::stack(own, 1), torch::stack(there, 1));
  if (off.size(1) == 0) return found;
  const Tensor counts = side.weights() > 0;
  for (const Tensor& off_plane : off.unbind(1)) {
    const Tensor out = off_plane.logical_and(counts);
    const double log_chance = log_chance_of_equal_laws(
        out.sum().item<double>(), counts.sum().item<double>(), static_cast<double>(others.rows()));
    if (!is_improbable(log_chance, static_cast<size_t>(off.size(1)))) continue;
    found.rows.logical_or_(out);
    ++found.ends;
  }
  return found;
}

/// Rows with levels, point masses or missing cells that the others never have.
Beyond by_level(const Samples& side, const Samples& others, const Encoding& encoding) {
  return beyond(side, indicators(side, encoding), indicators(others, encoding),
                Against::equal_laws);
}

Tensor rows_beyond(const Samples& side, const Samples& others, const Encoding& encoding,
                   Against against) {
  return beyond(side, known_values(side, encoding), known_values(others, encoding), against)
      .rows.logical_or(by_level(side, others, encoding).rows)
      .logical_or(rule_breakers(side, others, encoding).rows);
}

/// Whether values repeat, five times and more on average, so that others are not to be expected.
bool repeat(const Tensor& values, const Tensor& different) {
  return values.size(0) >= 5 * different.size(0);
}

/// Whether a column of numbers has values that the other side cannot have: it has but one, or
/// values repeat on both and none is common. own: [n], those with a weight; columns: how many are
/// looked at.
bool has_own_values(const Tensor& own, const Tensor& others, size_t columns) {
  if (own.size(0) == 0 || others.size(0) == 0) return false;
  const Tensor first = others[0];
  if ((others == first).all().item<bool>())
    return is_improbable(log_chance_of_equal_laws((own != first).sum().item<double>(),
                                                  static_cast<double>(own.size(0)),
                                                  static_cast<double>(others.size(0))),
                         columns);
  const Tensor here = std::get<0>(at::_unique(own)), there = std::get<0>(at::_unique(others));
  return repeat(own, here) && repeat(others, there) && !at::isin(here, there).any().item<bool>();
}

/// Whose rows lie where the other side has none, if it is worth a warning.
std::vector<Warning> outside(double share, const char* whose, const char* other) {
  if (!(share > Support::noticed)) return {};
  return {{"little-support",
           text(std::round(share * 1000) / 10, " % of the ", whose, "'s rows lie where the ", other,
                " has none: their log-ratios are extrapolated")}};
}

}  // namespace

double share_outside(const Tensor& log_ratio, const Samples& side, const Samples& other,
                     const Encoding& encoding) {
  const Tensor out = (log_ratio > std::log(effective_size(other)))
                         .logical_or(without_counterpart(side, other, encoding));
  return as_share(weighted_mean(out.to(torch::kFloat64), side.weights()));
}

Support with_own_levels(Support found, const OwnLevels& own) {
  if (!own.nothing_shared) return found;
  return {std::max(found.numerator_outside, own.numerator),
          std::max(found.denominator_outside, own.denominator)};
}

double reached(double outside) { return outside > Support::noticed ? 1 - outside : 1; }

std::vector<Warning> judge_support(const Support& support) {
  std::vector<Warning> warnings = outside(support.numerator_outside, "numerator", "denominator");
  for (const Warning& more : outside(support.denominator_outside, "denominator", "numerator"))
    warnings.push_back(more);
  return warnings;
}

Tensor beyond_range(const Samples& side, const Samples& other, const Encoding& encoding) {
  return rows_beyond(side, other.positive(), encoding, Against::equal_laws);
}

Tensor without_counterpart(const Samples& side, const Samples& other, const Encoding& encoding) {
  return rows_beyond(side, other.positive(), encoding, Against::odds_nearby);
}

BeyondRange count_beyond_range(const Samples& side, const Samples& other,
                               const Encoding& encoding) {
  const Samples others = other.positive();
  const Beyond by_value = beyond(side, known_values(side, encoding), known_values(others, encoding),
                                 Against::equal_laws);
  const Beyond by_rule = rule_breakers(side, others, encoding);
  const Tensor rows = by_value.rows.logical_or(by_rule.rows);
  return {as_share(weighted_mean(rows.to(torch::kFloat64), side.weights())), effective_size(side),
          effective_size(other), by_value.ends + by_rule.ends};
}

bool has_own_levels(const Samples& side, const Samples& other, const Encoding& encoding) {
  const Samples some = side.positive(), others = other.positive();
  if (by_level(some, others, encoding).ends > 0 || rule_breakers(some, others, encoding).ends > 0)
    return true;
  const std::vector<Tensor> own = known_values(some, encoding);
  const std::vector<Tensor> there = known_values(others, encoding);
  for (size_t j = 0; j < own.size(); ++j)
    if (has_own_values(known(own[j]), known(there[j]), own.size())) return true;
  return false;
}

}  // namespace dre
