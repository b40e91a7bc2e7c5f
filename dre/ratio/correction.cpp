#include "dre/ratio/correction.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "dre/data/batches.h"
#include "dre/numeric/statistics.h"

namespace dre {
namespace {

/// Integrals over time of the score of rows that move along the bridge, [n]: their mean should be
/// zero.
Tensor integrated_scores(const TimeScore& score, const Samples& numerator,
                         const Samples& denominator, at::Generator& generator) {
  const int64_t n = std::max(numerator.rows(), denominator.rows());
  const auto rows = [&](const Samples& side) {
    const Tensor order = at::randperm(n, generator, torch::kInt64);
    return side.x.index_select(
        0, systematic_rows(side, n, 0.5).index_select(0, order).to(side.x.device()));
  };
  const Tensor x0 = rows(numerator), x1 = rows(denominator);
  Tensor noise;
  if (score.bridge().has_noise())
    noise = normal(x0.sizes(), torch::kFloat64, generator).to(x0.options());
  const RowIntegrand integrand = [&](const Tensor& row, const Tensor& t) {
    const auto part = [&](const Tensor& all) {
      return all.defined() ? all.index_select(0, row) : Tensor();
    };
    const Tensor time = t.unsqueeze(1);
    return score.time_score(point_at(score.bridge(), part(x0), part(x1), part(noise), time).x, time)
        .value;
  };
  const Interval range = score.bridge().interval();
  const int64_t nodes = 16;
  return gauss_legendre(integrand, n, range.from, range.to, nodes, {}, x0.options()).value.cpu();
}

}  // namespace

RatedRows rated_rows(const Tensor& log_ratio, const Tensor& weight) {
  return {log_ratio, weight.defined() ? weight : torch::ones_like(log_ratio)};
}

double logistic_loss(const RatedRows& numerator, const RatedRows& denominator) {
  return 0.5 * (weighted_mean(torch::softplus(-numerator.log_ratio), numerator.weight) +
                weighted_mean(torch::softplus(denominator.log_ratio), denominator.weight));
}

double deciding_rows(const RatedRows& numerator, const RatedRows& denominator) {
  const auto on_the_wrong_side = [](const RatedRows& rows, double sign) {
    const Tensor share = torch::sigmoid(sign * rows.log_ratio) * rows.weight;
    // Between sides that are far enough apart no row is there at all.
    return share.sum().item<double>() > 0 ? effective_sample_size(share) : 0;
  };
  return std::min(on_the_wrong_side(numerator, -1), on_the_wrong_side(denominator, 1));
}

Measured logistic_gain(const RatedRows& base_numerator, const RatedRows& base_denominator,
                       const RatedRows& better_numerator, const RatedRows& better_denominator) {
  const Tensor first =
      torch::softplus(-base_numerator.log_ratio) - torch::softplus(-better_numerator.log_ratio);
  const Tensor second =
      torch::softplus(base_denominator.log_ratio) - torch::softplus(better_denominator.log_ratio);
  const Tensor &weight0 = base_numerator.weight, &weight1 = base_denominator.weight;
  return {0.5 * (weighted_mean(first, weight0) + weighted_mean(second, weight1)),
          0.5 * std::hypot(standard_error(first, weight0), standard_error(second, weight1))};
}

Measured best_share(const RatedRows& base_numerator, const RatedRows& base_denominator,
                    const RatedRows& better_numerator, const RatedRows& better_denominator,
                    double most) {
  const Tensor first = better_numerator.log_ratio - base_numerator.log_ratio;
  const Tensor second = better_denominator.log_ratio - base_denominator.log_ratio;
  const Tensor &weight0 = base_numerator.weight, &weight1 = base_denominator.weight;
  const auto missed = [](const RatedRows& base, const Tensor& deviation, double sign, double s) {
    return torch::sigmoid(-sign * (base.log_ratio + s * deviation));
  };
  const auto slope = [&](double s) {
    return weighted_mean(missed(base_denominator, second, -1, s) * second, weight1) -
           weighted_mean(missed(base_numerator, first, 1, s) * first, weight0);
  };
  // The loss is convex: its slope changes sign once.
  double low = 0, high = most;
  if (slope(most) <= 0)
    low = most;  // first: without a deviation there is no slope
  else if (slope(0) >= 0)
    high = 0;
  while (high - low > 1e-6) (slope(0.5 * (low + high)) < 0 ? low : high) = 0.5 * (low + high);
  const auto noise = [&](double s) {
    return std::hypot(standard_error(missed(base_numerator, first, 1, s) * first, weight0),
                      standard_error(missed(base_denominator, second, -1, s) * second, weight1));
  };
  const auto bend = [&](const RatedRows& base, const Tensor& deviation) {
    const Tensor wrong = missed(base, deviation, 1, low);
    return weighted_mean(wrong * (1 - wrong) * deviation.square(), base.weight);
  };
  const double curvature = bend(base_numerator, first) + bend(base_denominator, second);
  if (!(curvature > 0)) return {low, std::numeric_limits<double>::infinity()};
  // Where a few rows alone deviate they leave no loss at their best share, and no noise; how sure a
  // share is shows before it is given, then.
  return {low, std::max(noise(low) / curvature, low * noise(0) / std::abs(slope(0)))};
}

Measured balancing_intercept(const RatedRows& numerator, const RatedRows& denominator) {
  // Between well separated sides a handful of rows decides, and their standard error means nothing.
  if (deciding_rows(numerator, denominator) < fewest_deciding_rows) return {0, 0};
  const auto missed = [](const RatedRows& rows, double sign, double c) {
    return torch::sigmoid(sign * (rows.log_ratio + c));
  };
  // The difference of the two sides falls in c, so bisection cannot miss its zero.
  double low = -20, high = 20;
  for (int i = 0; i < 60; ++i) {
    const double c = 0.5 * (low + high);
    const double difference = weighted_mean(missed(numerator, -1, c), numerator.weight) -
                              weighted_mean(missed(denominator, 1, c), denominator.weight);
    (difference > 0 ? low : high) = c;
  }
  const double c = 0.5 * (low + high);
  const Tensor first = missed(numerator, -1, c), second = missed(denominator, 1, c);
  const double slope = weighted_mean(first * (1 - first), numerator.weight) +
                       weighted_mean(second * (1 - second), denominator.weight);
  const double noise = std::hypot(standard_error(first, numerator.weight),
                                  standard_error(second, denominator.weight));
  return {c, noise / slope};
}

Measured normalisation_error(const Score& score, const GaussianPath& gaussian,
                             const Samples& numerator, const Samples& denominator,
                             at::Generator& generator) {
  torch::NoGradGuard no_grad;
  if (ability<DirectRatio>(score)) {
    const auto rate = [&](const Samples& side) -> RatedRows {
      return {horizontal_ratio(score, gaussian, side.x, {}).log_ratio.cpu(), side.weights().cpu()};
    };
    return balancing_intercept(rate(numerator), rate(denominator));
  }
  const Tensor scores =
      integrated_scores(*ability<TimeScore>(score), numerator, denominator, generator);
  // Both sides were resampled to the length of the longer one; repeated rows say nothing new.
  const double distinct = std::min(effective_size(numerator), effective_size(denominator));
  const double repeats = std::max(1.0, static_cast<double>(scores.size(0)) / distinct);
  return {weighted_mean(scores), standard_error(scores) * std::sqrt(repeats)};
}

}  // namespace dre
