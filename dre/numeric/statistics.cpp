#include "dre/numeric/statistics.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "dre/base/error.h"

namespace dre {
namespace {

Tensor column(const Tensor& values, const char* what) {
  check(values.defined() && values.dim() == 1 && values.size(0) >= 1, what,
        " must be a column of at least one number");
  return values.detach().to(torch::kFloat64);
}

/// Weights that sum to 1: [n]
Tensor shares(const Tensor& weights, const Tensor& values) {
  if (!weights.defined()) return torch::full_like(values, 1.0 / values.size(0));
  const Tensor w = column(weights, "weights").to(values.device());
  check(w.size(0) == values.size(0), "there must be one weight for each of ", values.size(0),
        " values, got ", w.size(0));
  const double total = w.sum().item<double>();
  check(w.min().item<double>() >= 0 && total > 0 && std::isfinite(total),
        "weights must be finite, not negative and not all zero");
  return w / total;
}

/// For sorted values, where each one's run of equals begins and where it ends: [n] int64 each.
struct Runs {
  Tensor begin, end;
};

Runs runs_of_equals(const Tensor& sorted) {
  return {torch::searchsorted(sorted, sorted, false, false),
          torch::searchsorted(sorted, sorted, false, true)};
}

}  // namespace

double weighted_mean(const Tensor& values, const Tensor& weights) {
  const Tensor x = column(values, "values");
  return (shares(weights, x) * x).sum().item<double>();
}

double weighted_variance(const Tensor& values, const Tensor& weights) {
  const Tensor x = column(values, "values");
  const Tensor w = shares(weights, x);
  return (w * (x - (w * x).sum()).square()).sum().item<double>();
}

double standard_error(const Tensor& values, const Tensor& weights) {
  const Tensor x = column(values, "values");
  check(x.size(0) >= 2, "a standard error needs at least two values, got ", x.size(0));
  const Tensor w = shares(weights, x);
  const double sum = (w * (x - (w * x).sum())).square().sum().item<double>();
  const auto n = static_cast<double>(x.size(0));
  return std::sqrt(sum * n / (n - 1));
}

double effective_sample_size(const Tensor& weights) {
  const Tensor w = column(weights, "weights");
  return 1 / shares(weights, w).square().sum().item<double>();
}

Tensor scaled_weights(const Tensor& log_weight, const Tensor& weight) {
  const Tensor largest = log_weight.masked_select(weight > 0).max();
  return (log_weight - largest).clamp_max(0).exp() * weight;
}

double log_mean_exp(const Tensor& values, const Tensor& weights) {
  const Tensor x = column(values, "values");
  return torch::logsumexp(x + shares(weights, x).log(), 0).item<double>();
}

Tensor sample_quantile(const Tensor& values, const Tensor& probabilities) {
  const Tensor sorted = std::get<0>(column(values, "values").sort());
  check(!sorted.isnan().any().item<bool>(), "quantiles of NaN are not defined");
  const Tensor p = column(probabilities, "probabilities").to(sorted.device());
  check(p.min().item<double>() >= 0 && p.max().item<double>() <= 1,
        "probabilities must lie between 0 and 1");
  const Tensor place = p * (sorted.size(0) - 1);
  const Tensor below = place.floor().to(torch::kInt64);
  const Tensor above = (below + 1).clamp_max(sorted.size(0) - 1);
  const Tensor low = sorted.index_select(0, below), high = sorted.index_select(0, above);
  const Tensor share = place - below;
  // Where no interpolation is needed none is made: infinite neighbours would give NaN.
  return torch::where(share == 0, low, low + (high - low) * share);
}

double sample_quantile(const Tensor& values, double probability) {
  return sample_quantile(values, torch::full({1}, probability, torch::kFloat64)).item<double>();
}

double as_share(double sum) { return std::clamp(sum, 0.0, 1.0); }

double auc(const Tensor& positive, const Tensor& negative, const Tensor& positive_weights,
           const Tensor& negative_weights) {
  const Tensor p = column(positive, "positive scores"), n = column(negative, "negative scores");
  const Tensor wp = shares(positive_weights, p);
  const auto [sorted, order] = n.to(p.device()).sort();
  const Tensor wn = shares(negative_weights, n).to(p.device()).index_select(0, order);
  const Tensor below = torch::cat({torch::zeros({1}, wn.options()), wn.cumsum(0)});
  const Tensor less = below.index_select(0, torch::searchsorted(sorted, p, false, false));
  const Tensor less_or_equal = below.index_select(0, torch::searchsorted(sorted, p, false, true));
  return as_share((wp * (less + less_or_equal)).sum().item<double>() / 2);
}

double auc_error(double positive_rows, double negative_rows) {
  return std::sqrt((positive_rows + negative_rows + 1) / (12 * positive_rows * negative_rows));
}

double distance_from_uniform(const Tensor& values) {
  check(values.dim() == 1 && values.size(0) > 0, "values must be a column with rows, got ",
        values.sizes());
  const Tensor sorted = std::get<0>(values.to(torch::kFloat64).sort());
  const auto n = static_cast<double>(sorted.size(0));
  const Tensor below = torch::arange(sorted.size(0), torch::kFloat64) / n;
  return torch::maximum(below + 1 / n - sorted, sorted - below).max().item<double>();
}

Tensor ranks(const Tensor& values) {
  const auto [sorted, order] = column(values, "values").sort();
  const Runs runs = runs_of_equals(sorted);
  const Tensor mean_place = (runs.begin + runs.end + 1).to(torch::kFloat64) / 2;
  return torch::empty_like(sorted).index_copy_(0, order, mean_place);
}

double rank_correlation(const Tensor& a, const Tensor& b) {
  const Tensor x = ranks(a), y = ranks(b);
  check(x.size(0) == y.size(0), "both columns must have the same length, got ", x.size(0), " and ",
        y.size(0));
  const Tensor dx = x - x.mean(), dy = y - y.mean();
  return ((dx * dy).sum() / (dx.square().sum() * dy.square().sum()).sqrt()).item<double>();
}

}  // namespace dre
