#include "dre/apps/support.h"

#include <cmath>

#include "dre/base/error.h"
#include "dre/numeric/statistics.h"

namespace dre {
namespace {

using Role = EncodedColumn::Role;

constexpr double chance = 1e-4;

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

/// Of n rows a side that all columns have, so many at one end of a column belong to one side by
/// chance only: (n0 / n)^count, in as many tries as there are ends.
Tensor beyond(const Samples& side, const std::vector<Tensor>& own,
              const std::vector<Tensor>& others, double other_rows) {
  Tensor found = torch::zeros({side.rows()}, torch::kBool);
  const Tensor counts = side.weights() > 0;
  const auto n = counts.sum().item<double>();
  const double needed =
      std::log(chance / (2.0 * static_cast<double>(own.size()))) / std::log(n / (n + other_rows));
  for (size_t j = 0; j < own.size(); ++j)
    for (const Tensor& out : {own[j] > others[j].max(), own[j] < others[j].min()})
      if (out.logical_and(counts).sum().item<double>() >= needed) found.logical_or_(out);
  return found;
}

/// Orthonormal columns that span those of z, centred: [n, d]
Tensor centred_basis(const Tensor& z) { return std::get<0>(torch::linalg_qr(z - z.mean(0))); }

bool equal_directions(const Tensor& x, const Tensor& y) {
  constexpr double rounding = 1e-9;
  const Tensor basis = centred_basis(x);
  const auto [left, cosines, right] =
      torch::linalg_svd(torch::mm(basis.t(), centred_basis(y)), false);
  if (cosines[0].item<double>() < 1 - rounding) return false;
  const Tensor shared = torch::mv(basis, left.select(1, 0));
  const Tensor steps = std::get<0>(shared.sort()).diff() > rounding * shared.abs().max();
  return steps.sum().item<int64_t>() > x.size(0) / 2;
}

Tensor ranked(const Tensor& z) {
  std::vector<Tensor> columns;
  for (const Tensor& column : z.unbind(1)) columns.push_back(ranks(column));
  return torch::stack(columns, 1);
}

/// Whose rows lie where the other side has none, if it is worth a warning.
std::vector<Warning> outside(double share, const char* whose, const char* other,
                             const char* divergence) {
  if (!(share > Support::noticed)) return {};
  return {{"little-support",
           text(std::round(share * 1000) / 10, " % of the ", whose, "'s rows lie where the ", other,
                " has none: what ", divergence, " takes for them is extrapolated")}};
}

}  // namespace

double share_outside(const Tensor& log_ratio, const Samples& side, const Samples& other,
                     const Encoding& encoding) {
  const Tensor out =
      (log_ratio > std::log(effective_size(other))).logical_or(beyond_range(side, other, encoding));
  return weighted_mean(out.to(torch::kFloat64), side.weights());
}

std::vector<Warning> judge_support(const Support& support) {
  std::vector<Warning> warnings =
      outside(support.numerator_outside, "numerator", "denominator", "KL(num||den)");
  for (const Warning& more :
       outside(support.denominator_outside, "denominator", "numerator", "KL(den||num)"))
    warnings.push_back(more);
  return warnings;
}

Tensor beyond_range(const Samples& side, const Samples& other, const Encoding& encoding) {
  const Samples others = other.positive();
  const auto rows = static_cast<double>(others.rows());
  return beyond(side, values(side, encoding), values(others, encoding), rows)
      .logical_or(beyond(side, indicators(side, encoding), indicators(others, encoding), rows));
}

bool has_own_levels(const Samples& side, const Samples& other, const Encoding& encoding) {
  const Samples others = other.positive();
  return beyond(side, indicators(side, encoding), indicators(others, encoding),
                static_cast<double>(others.rows()))
      .any()
      .item<bool>();
}

bool one_fixes_the_other(const Tensor& x, const Tensor& y) {
  constexpr int64_t most = 10'000;
  if (x.size(0) < 4 * (x.size(1) + y.size(1))) return false;
  const Tensor some_x = x.slice(0, 0, most), some_y = y.slice(0, 0, most);
  return equal_directions(some_x, some_y) || equal_directions(ranked(some_x), ranked(some_y));
}

}  // namespace dre
