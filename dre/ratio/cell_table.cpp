#include "dre/ratio/cell_table.h"

#include <ATen/core/grad_mode.h>

#include <cmath>

#include "dre/base/error.h"

namespace dre {
namespace {

constexpr double rows_a_cell = 10;
constexpr double most_log_odds = 30;  // beyond that a probability is 0 or 1 in double precision

/// One number for a row, the same for the same row whatever the last digits of its coordinates:
/// they are rounded to 1e-6 of their scale, and mixed so that different rows hardly ever meet.
Tensor keys(const Tensor& z) {
  const Tensor rounded = (z.to(torch::kCPU, torch::kFloat64) * 1e6).round().to(torch::kInt64);
  Tensor key = torch::zeros({z.size(0)}, torch::kInt64);
  const auto multiplier = static_cast<int64_t>(0x9e3779b97f4a7c15);  // odd, no pattern in its bits
  for (int64_t i = 0; i < z.size(1); ++i) {
    key = (key + rounded.select(1, i)) * multiplier;
    key = key.bitwise_xor(at::bitwise_right_shift(key, 29));
  }
  return key;
}

/// Rows of both sides at each cell, as if all had weight 1, and the reference's log-odds of the
/// numerator there, also within bounds where likelihoods stay finite.
struct Counts {
  Tensor numerator, denominator, expected, log_odds;
};

Tensor log_beta(const Tensor& a, const Tensor& b) {
  return a.lgamma() + b.lgamma() - (a + b).lgamma();
}

/// Log-likelihood of the counts, less that of the reference's odds at every cell.
double gain(const Counts& counts, double kappa) {
  const Tensor p = counts.log_odds.sigmoid(), q = (-counts.log_odds).sigmoid();
  const Tensor mixed = log_beta(counts.numerator + kappa * p, counts.denominator + kappa * q) -
                       log_beta(kappa * p, kappa * q);
  const Tensor plain = counts.numerator * p.log() + counts.denominator * q.log();
  return (mixed - plain).sum().item<double>();
}

struct Prior {
  double kappa, gain;
};

Prior likeliest(const Counts& counts) {
  Prior best{1, -INFINITY};
  for (double kappa = 0.5; kappa < 1e5; kappa *= std::sqrt(2.0)) {
    const double own = gain(counts, kappa);
    if (own > best.gain) best = {kappa, own};
  }
  return best;
}

/// Weights that add up to the effective number of rows.
Tensor as_counts(const Samples& side) {
  return side.weights() * (effective_size(side) / static_cast<double>(side.rows()));
}

/// cell: of every row, the numerator's first.
Counts count(const Samples& numerator, const Samples& denominator, const Tensor& reference,
             const Tensor& cell, int64_t cells) {
  const int64_t first = numerator.rows();
  const auto summed = [&](const Tensor& value, const Tensor& place) {
    return torch::zeros({cells}, torch::kFloat64).index_add_(0, place, value);
  };
  const Tensor count0 = as_counts(numerator), count1 = as_counts(denominator);
  const double sizes = std::log((count0.sum() / count1.sum()).item<double>());
  const Tensor log_ratio = summed(reference, cell) / summed(torch::ones_like(reference), cell);
  const Tensor expected = log_ratio + sizes;
  return {summed(count0, cell.slice(0, 0, first)), summed(count1, cell.slice(0, first)), expected,
          expected.clamp(-most_log_odds, most_log_odds)};
}

}  // namespace

CellTable CellTable::fit(const Samples& numerator, const Tensor& reference0,
                         const Samples& denominator, const Tensor& reference1, double guard) {
  const at::NoGradGuard no_grad;
  const auto [key, cell, unused] =
      at::_unique2(torch::cat({keys(numerator.x), keys(denominator.x)}),
                   /*sorted=*/true, /*return_inverse=*/true);
  const auto cells = static_cast<double>(key.size(0)), rows = static_cast<double>(cell.size(0));
  if (rows < rows_a_cell * cells) return {};
  const Counts counts =
      count(numerator, denominator, torch::cat({reference0, reference1}), cell, key.size(0));
  const Prior prior = likeliest(counts);
  if (!(2 * prior.gain > guard * guard)) return {};
  const Tensor top = counts.numerator + prior.kappa * counts.log_odds.sigmoid();
  const Tensor bottom = counts.denominator + prior.kappa * (-counts.log_odds).sigmoid();
  CellTable table;
  table.key_ = key;
  table.deviation_ = (top / bottom).log() - counts.expected;
  return table;
}

Tensor CellTable::deviation(const Tensor& z) const {
  if (empty()) return torch::zeros({z.size(0)}, torch::kFloat64);
  const Tensor wanted = keys(z);
  const Tensor place = at::searchsorted(key_, wanted).clamp_max(size() - 1);
  const Tensor found = key_.index_select(0, place) == wanted;
  return deviation_.index_select(0, place).masked_fill(found.logical_not(), 0);
}

NamedTensors CellTable::tensors() const {
  if (empty()) return {};
  return {{"key", key_}, {"deviation", deviation_}};
}

CellTable CellTable::load(const NamedTensors& tensors) {
  CellTable table;
  if (tensors.empty()) return table;
  table.key_ = at(tensors, "key");
  table.deviation_ = at(tensors, "deviation").to(torch::kFloat64);
  check_data(table.key_.dim() == 1 && table.key_.sizes() == table.deviation_.sizes() &&
                 table.key_.scalar_type() == torch::kInt64,
             "the counts of rows that repeat have other shapes than they should");
  return table;
}

}  // namespace dre
