#include "dre/numeric/pareto.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "dre/base/error.h"

namespace dre {
namespace {

/// Given b = -k/σ the likelihood is largest at k = mean log(1 - b y); the estimate of b is the mean
/// over the grid, weighted by that profile likelihood. y: [n] ascending
double profile_mean(const Tensor& y) {
  const int64_t n = y.size(0);
  const auto points = 30 + static_cast<int64_t>(std::sqrt(static_cast<double>(n)));
  const double largest = y[n - 1].item<double>();
  // The first quartile sets the scale of the prior; ties at 0 can hide it.
  const double quartile =
      std::max(y[(n + 2) / 4 - 1].item<double>(), largest * std::numeric_limits<double>::epsilon());
  const Tensor j = torch::arange(1, points + 1, y.options());
  const Tensor b = 1 / largest + (1 - (points / (j - 0.5)).sqrt()) / (3 * quartile);
  const Tensor k = torch::log1p(-b.unsqueeze(1) * y).mean(1);
  const Tensor log_likelihood = n * ((-b / k).log() - k - 1);
  return (torch::softmax(log_likelihood, 0) * b).sum().item<double>();
}

/// Equal values, as of rows with the same categories, are spread half the way to the nearer
/// neighbour, as if they had been rounded: a tail that consists of steps would look like any k.
/// y: [n] ascending, positive
Tensor spread_ties(const Tensor& y) {
  const int64_t n = y.size(0);
  Tensor out = y.clone();
  const auto* from = y.data_ptr<double>();
  auto* to = out.data_ptr<double>();
  for (int64_t i = 0; i < n;) {
    int64_t end = i;
    while (end < n && from[end] == from[i]) ++end;
    const double below = from[i] - (i > 0 ? from[i - 1] : 0);
    const double width = end < n ? std::min(below, from[end] - from[i]) : below;
    for (int64_t j = i; j < end && end - i > 1; ++j)
      to[j] += width * ((static_cast<double>(j - i) + 0.5) / static_cast<double>(end - i) - 0.5);
    i = end;
  }
  return out;
}

constexpr int64_t fewest_exceedances = 5;
constexpr double little_weight = 0.1;  // of the total, which too few rows for a tail may have

/// Share of the total weight that the last `count` have. log_weights: [n] ascending
double above_share(const Tensor& log_weights, int64_t count) {
  const Tensor weights = (log_weights - log_weights[-1]).exp();
  return (weights.slice(0, weights.size(0) - count).sum() / weights.sum()).item<double>();
}

double tail_size(double samples) { return std::min(0.2 * samples, 3 * std::sqrt(samples)); }

}  // namespace

double pareto_threshold(int64_t samples) {
  return std::min(1 - 1 / std::log10(static_cast<double>(samples)), 0.7);
}

ParetoFit fit_pareto(const Tensor& exceedances) {
  const torch::NoGradGuard no_grad;
  check(exceedances.dim() == 1 && exceedances.size(0) >= 5,
        "a Pareto fit needs a column of at least 5 exceedances, got ", exceedances.sizes());
  const Tensor y = std::get<0>(exceedances.to(torch::kCPU, torch::kFloat64).sort());
  check(y[0].item<double>() >= 0 && y[-1].item<double>() > 0 && y.isfinite().all().item<bool>(),
        "exceedances must be finite, not negative and not all zero");
  const double b = profile_mean(y);
  const double k = torch::log1p(-b * y).mean().item<double>();
  return {k, -k / b};
}

Tensor pareto_quantile(const ParetoFit& fit, const Tensor& probabilities) {
  const Tensor minus_log = -torch::log1p(-probabilities.to(torch::kFloat64));
  if (std::abs(fit.k) < 1e-12) return fit.sigma * minus_log;
  return fit.sigma * torch::expm1(fit.k * minus_log) / fit.k;
}

TailFit fit_tail(const Tensor& log_weights) {
  const torch::NoGradGuard no_grad;
  check(log_weights.dim() == 1 && log_weights.size(0) >= rows_for_tail,
        "the tail of the weights needs at least ", rows_for_tail, " of them, got ",
        log_weights.sizes());
  const Tensor given = log_weights.to(torch::kCPU, torch::kFloat64);
  check(!given.isnan().any().item<bool>() && std::isfinite(given.max().item<double>()),
        "log-weights must not be NaN, +infinity or all -infinity");
  const int64_t samples = given.size(0);
  TailFit out;
  out.threshold = pareto_threshold(samples);
  out.tail = static_cast<int64_t>(std::ceil(tail_size(static_cast<double>(samples))));
  out.smoothed = given.clone();
  const auto [sorted, order] = given.sort();
  const double top = sorted[samples - 1].item<double>();
  const double cut = std::exp(sorted[samples - out.tail - 1].item<double>() - top);
  const Tensor y =
      ((sorted.narrow(0, samples - out.tail, out.tail) - top).exp() - cut).clamp_min(0);
  const double rounding = 1e-12;  // of the largest weight, which is 1
  if (!(y[-1].item<double>() - y[0].item<double>() > rounding)) {
    out.k = std::numeric_limits<double>::quiet_NaN();
    return out;
  }
  // Weights equal to the cut are no part of the tail that begins there.
  const Tensor above = y.masked_select(y > 0);
  const bool few = above.size(0) < fewest_exceedances;
  if (few && above_share(sorted, above.size(0)) < little_weight) {
    out.k = std::numeric_limits<double>::quiet_NaN();
    return out;
  }
  ParetoFit fit = fit_pareto(few ? y : spread_ties(above));
  const auto n = static_cast<double>(out.tail);
  fit.k = (n * fit.k + 10 * 0.5) / (n + 10);
  out.k = fit.k;
  // Rows that are alike keep weights that are.
  const int64_t distinct = 1 + (y.diff() > 0).sum().item<int64_t>();
  if (2 * distinct < out.tail) return out;
  const Tensor p = (torch::arange(out.tail, y.options()) + 0.5) / n;
  const Tensor smooth = (cut + pareto_quantile(fit, p)).log().clamp_max(0.0) + top;
  out.smoothed.index_copy_(0, order.narrow(0, samples - out.tail, out.tail), smooth);
  return out;
}

}  // namespace dre
