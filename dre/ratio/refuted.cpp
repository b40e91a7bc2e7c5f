#include "dre/ratio/refuted.h"

#include <algorithm>
#include <cmath>

#include "dre/numeric/statistics.h"

namespace dre {
namespace {

constexpr double doubt = 5;

/// The largest -L such that far more rows of this side are below it than e^-L; -infinity: none.
double lowest_believed(const RatedRows& rows) {
  const Tensor some = rows.weight > 0;
  const auto [f, order] = rows.log_ratio.masked_select(some).sort();
  const Tensor weight = rows.weight.masked_select(some).index_select(0, order);
  const Tensor share =
      (weight.cumsum(0) / weight.sum()).clamp_min(1 / effective_sample_size(weight));
  const Tensor least = share.log() - doubt;
  const Tensor refuted = least.masked_select(f < least);
  return refuted.size(0) > 0 ? refuted[-1].item<double>()
                             : -std::numeric_limits<double>::infinity();
}

/// Half a row more on each side, for a side that has none there.
double log_ratio_of_counts(const Tensor& numerator, const Tensor& weight0,
                           const Tensor& denominator, const Tensor& weight1) {
  const auto share = [](const Tensor& there, const Tensor& weight) {
    return weighted_mean(there.to(torch::kFloat64), weight) + 0.5 / effective_sample_size(weight);
  };
  return std::log(share(numerator, weight0) / share(denominator, weight1));
}

}  // namespace

Tensor RefutedEnds::operator()(const Tensor& log_ratio) const {
  return log_ratio.masked_fill(log_ratio < low, below).masked_fill(log_ratio > high, above);
}

RefutedEnds refuted_ends(const RatedRows& numerator, const RatedRows& denominator) {
  const auto& [f0, weight0] = numerator;
  const auto& [f1, weight1] = denominator;
  RefutedEnds out;
  out.low = lowest_believed(numerator);
  if (std::isfinite(out.low))
    out.below = log_ratio_of_counts(f0 < out.low, weight0, f1 < out.low, weight1);
  out.high = -lowest_believed({-f1, weight1});
  if (std::isfinite(out.high))
    out.above = log_ratio_of_counts(f0 > out.high, weight0, f1 > out.high, weight1);
  return out;
}

}  // namespace dre
