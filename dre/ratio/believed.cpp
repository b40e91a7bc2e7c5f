#include "dre/ratio/believed.h"

#include <algorithm>
#include <cmath>

#include "dre/numeric/statistics.h"

namespace dre {
namespace {

constexpr double doubt = 5;     // the logarithm of how many times too much weight refutes
constexpr double too_sure = 2;  // is left to recalibration

/// Rows that count, from the lowest log-ratio on, with the share of the weight up to each.
struct Ordered {
  Tensor log_ratio, share;
};

Ordered ordered(const RatedRows& rows) {
  const Tensor some = rows.weight > 0;
  const auto [f, order] = rows.log_ratio.masked_select(some).sort();
  const Tensor weight = rows.weight.masked_select(some).index_select(0, order);
  return {f, weight.cumsum(0) / weight.sum()};
}

/// The end below which no log-ratio is believed; -infinity: all are. Of `rows`, the side that has
/// fewer where log-ratios are low, one refutes its own where the share of rows up to it is too
/// large for that. The end is where the share up to the last of these rows would be as it should,
/// or before it, where the other side has e^5 times that share already.
double lowest_believed(const RatedRows& rows, const RatedRows& other) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const Ordered own = ordered(rows);
  const Tensor least = too_sure * (own.share.log() - doubt);
  const Tensor refuting = (own.log_ratio < least).nonzero().squeeze(1);
  if (refuting.size(0) == 0) return -infinity;
  const auto last = refuting[-1].item<int64_t>();
  const Ordered others = ordered(other);
  const Tensor too_many =
      others.log_ratio.masked_select(others.share > own.share[last] * std::exp(doubt));
  const double most = too_many.size(0) > 0 ? too_many[0].item<double>() : infinity;
  return std::max(std::nextafter(own.log_ratio[last].item<double>(), infinity),
                  std::min(least[last].item<double>(), most));
}

/// A side that has no rows there counts half of one.
double log_ratio_of_counts(const Tensor& numerator, const Tensor& weight0,
                           const Tensor& denominator, const Tensor& weight1) {
  const auto share = [](const Tensor& there, const Tensor& weight) {
    const double found = weighted_mean(there.to(torch::kFloat64), weight);
    return found > 0 ? found : 0.5 / effective_sample_size(weight);
  };
  return std::log(share(numerator, weight0) / share(denominator, weight1));
}

}  // namespace

Tensor BelievedRange::operator()(const Tensor& log_ratio) const {
  const Tensor finite = log_ratio.isfinite();
  return log_ratio.masked_fill(finite.logical_and(log_ratio < low), below)
      .masked_fill(finite.logical_and(log_ratio > high), above);
}

BelievedRange believed_range(const RatedRows& numerator, const RatedRows& denominator) {
  const auto& [f0, weight0] = numerator;
  const auto& [f1, weight1] = denominator;
  BelievedRange out;
  out.low = lowest_believed(numerator, denominator);
  if (std::isfinite(out.low))
    out.below = log_ratio_of_counts(f0 < out.low, weight0, f1 < out.low, weight1);
  out.high = -lowest_believed({-f1, weight1}, {-f0, weight0});
  if (std::isfinite(out.high))
    out.above = log_ratio_of_counts(f0 > out.high, weight0, f1 > out.high, weight1);
  return out;
}

}  // namespace dre
