#include "dre/apps/diagnostics.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "dre/base/error.h"
#include "dre/base/numbers.h"
#include "dre/numeric/pareto.h"
#include "dre/numeric/statistics.h"

namespace dre {
namespace {

constexpr int64_t path_rows = 500;
/// Beyond it the mean of even the true ratio's weights is far from 1 in samples of usual size.
constexpr double largest_testable_divergence = 1;
/// Standard errors between E[w] and 1 that are taken for a fault of the fit and not for chance.
constexpr double noticeable = 4;
/// The same above 1: what a sample misses of a heavy tail could only have added to the mean, so
/// that one above 1 is never for want of rows.
constexpr double noticeable_above = 3;

/// A mean this close to 1 harms nobody, however sure it is.
constexpr double harmless = 0.01;

bool surely_above_one(const Measured& mean) {
  return mean.value - 1 > noticeable_above * mean.standard_error;
}

/// Evenly spaced rows, so that the choice is the same in every run.
Tensor some_rows(const Samples& side, int64_t count) {
  if (side.rows() <= count) return side.x;
  const double stride = static_cast<double>(side.rows()) / static_cast<double>(count);
  const Tensor place = torch::arange(count, torch::kFloat64).mul_(stride).to(torch::kInt64);
  return side.x.index_select(0, place.to(side.x.device()));
}

Tensor differences(const Estimator& estimator, const Tensor& raw, const Tensor& horizontal,
                   const std::string& path, const IntegrateOptions& options) {
  return (estimator.log_ratio(raw, {path, options}).log_ratio - horizontal).abs();
}

std::vector<PathCheck> check_paths(const Estimator& estimator, const Tensor& raw) {
  std::vector<PathCheck> out;
  const Names paths = other_paths(estimator);
  if (paths.empty()) return out;
  const Tensor horizontal = estimator.log_ratio(raw).log_ratio;
  for (const auto& path : paths) {
    const Tensor gap = differences(estimator, raw, horizontal, path, {});
    out.push_back(
        {path, gap.square().mean().sqrt().item<double>(), gap.max().item<double>(), gap.size(0)});
  }
  return out;
}

void check_finite(const Estimate& estimate, const char* side) {
  const int64_t bad = estimate.log_ratio.isfinite().logical_not().sum().item<int64_t>();
  if (bad > 0)
    fail(Error::Kind::numerical, "log r is not finite at ", bad, " of ", estimate.log_ratio.size(0),
         " rows of the ", side,
         "; try another --method or --bridge, a smaller --rate, or --transform rank");
}

/// Warnings about both weights, the integral over time and the support.
std::vector<Warning> judge(const Diagnostics& found) {
  std::vector<Warning> warnings = judge_weights(found.denominator, "r", "denominator");
  const auto add = [&](const std::vector<Warning>& more) {
    warnings.insert(warnings.end(), more.begin(), more.end());
  };
  add(judge_weights(found.numerator, "1/r", "numerator"));
  if (found.status != Status::ok)
    add({{"integration", text("the integral over time: ", describe(found.status))}});
  if (found.support) add(judge_support(*found.support));
  return warnings;
}

}  // namespace

WeightCheck check_weights(const Tensor& log_weight, const Tensor& weight, double divergence) {
  WeightCheck out{{NAN, NAN}, NAN, pareto_threshold(std::max<int64_t>(log_weight.size(0), 2))};
  out.rows = log_weight.size(0);
  // Scaled by the largest weight, so that nothing overflows before the end.
  const double largest = log_weight.max().item<double>();
  const Tensor scaled = (log_weight - largest).exp();
  const double scale = std::exp(largest);
  out.mean = {weighted_mean(scaled, weight) * scale, standard_error(scaled, weight) * scale};
  out.effective_rows = effective_sample_size(scaled * weight);
  if (out.rows >= rows_for_tail) {
    const TailFit tail = fit_tail(log_weight + weight.log());
    out.pareto_k = std::isnan(tail.k) ? -std::numeric_limits<double>::infinity() : tail.k;
    out.pareto_threshold = tail.threshold;
  }
  const bool believed =
      divergence <= largest_testable_divergence && out.pareto_k < out.pareto_threshold;
  out.reliable = out.rows >= rows_for_tail && (believed || surely_above_one(out.mean));
  return out;
}

std::string right_mean(double least_mean) {
  return least_mean < 1 ? text(std::round(least_mean * 1e4) / 1e4, " to 1") : "1";
}

bool is_decided_by_few(const WeightCheck& check) {
  constexpr double nearly_all = 0.9;  // then the weights are nearly equal, whatever their tail
  return check.pareto_k >= check.pareto_threshold &&
         check.effective_rows < nearly_all * static_cast<double>(check.rows);
}

std::vector<Warning> judge_weights(const WeightCheck& check, const std::string& name,
                                   const std::string& side) {
  std::vector<Warning> warnings;
  if (is_decided_by_few(check))
    warnings.push_back(
        {"heavy-weights",
         text("the weights ", name, " of the ", side, " have a heavy tail (Pareto k ",
              std::round(check.pareto_k * 100) / 100, ", good below ",
              std::round(check.pareto_threshold * 100) / 100,
              "): a few rows decide weighted means")});
  // How many rows have no counterpart is an estimate, too: anything up to 1 may be right.
  const double right = std::clamp(check.mean.value, check.least_mean, 1.0);
  const double off = std::abs(check.mean.value - right);
  if (check.reliable && off > harmless &&
      (off > noticeable * check.mean.standard_error || surely_above_one(check.mean)))
    warnings.push_back(
        {"not-normalised", text("the mean of ", name, " over the ", side, " is ", check.mean.value,
                                " and should be ", right_mean(check.least_mean))});
  return warnings;
}

std::vector<double> largest_weights(const Tensor& log_weight, const Tensor& weight) {
  const int64_t most = 200;
  const Tensor scaled = scaled_weights(log_weight, weight);
  const Tensor falling = std::get<0>((scaled / scaled.mean()).sort(0, /*descending=*/true));
  return numbers_of(falling.slice(0, 0, most));
}

nlohmann::json to_json(const WeightCheck& check) {
  return {{"mean", to_json(check.mean)},
          {"least_mean", check.least_mean},
          {"pareto_k", check.pareto_k},
          {"pareto_threshold", check.pareto_threshold},
          {"effective_rows", check.effective_rows},
          {"rows", check.rows},
          {"reliable", check.reliable}};
}

Diagnostics diagnose(const Estimator& estimator, const Samples& numerator,
                     const Samples& denominator) {
  torch::NoGradGuard no_grad;
  const Samples top = numerator.positive(), bottom = denominator.positive();
  return diagnose(estimator, top, estimator.log_ratio(top.x), bottom,
                  estimator.log_ratio(bottom.x));
}

Diagnostics diagnose(const Estimator& estimator, const Samples& numerator,
                     const Estimate& at_numerator, const Samples& denominator,
                     const Estimate& at_denominator, const std::optional<Support>& support) {
  torch::NoGradGuard no_grad;
  check_finite(at_numerator, "numerator");
  check_finite(at_denominator, "denominator");
  const Tensor &f0 = at_numerator.log_ratio, &f1 = at_denominator.log_ratio;
  const Tensor w0 = numerator.weights().cpu(), w1 = denominator.weights().cpu();
  Diagnostics out;
  out.kl_numerator_denominator = {weighted_mean(f0, w0), standard_error(f0, w0)};
  out.kl_denominator_numerator = {-weighted_mean(f1, w1), standard_error(f1, w1)};
  out.denominator = check_weights(f1, w1, out.kl_numerator_denominator.value);
  out.numerator = check_weights(-f0, w0, out.kl_denominator_numerator.value);
  out.paths = check_paths(estimator, torch::cat({some_rows(numerator, path_rows / 2),
                                                 some_rows(denominator, path_rows / 2)}));
  out.quadrature_error =
      std::max(at_numerator.error.max().item<double>(), at_denominator.error.max().item<double>());
  out.evaluations = std::max(at_numerator.evaluations, at_denominator.evaluations);
  out.status = at_numerator.status == Status::ok ? at_denominator.status : at_numerator.status;
  out.support = support;
  if (support) {
    out.denominator.least_mean = reached(support->numerator_outside);
    out.numerator.least_mean = reached(support->denominator_outside);
  }
  out.warnings = judge(out);
  return out;
}

nlohmann::json to_json(const Diagnostics& found) {
  nlohmann::json paths = nlohmann::json::object();
  for (const auto& check : found.paths)
    paths[check.path] = {{"root_mean_square", check.root_mean_square},
                         {"largest", check.largest},
                         {"rows", check.rows}};
  nlohmann::json json = {{"kl_numerator_denominator", to_json(found.kl_numerator_denominator)},
                         {"kl_denominator_numerator", to_json(found.kl_denominator_numerator)},
                         {"ratio_on_denominator", to_json(found.denominator)},
                         {"inverse_ratio_on_numerator", to_json(found.numerator)},
                         {"path_disagreement", paths},
                         {"quadrature_error", found.quadrature_error},
                         {"evaluations", found.evaluations},
                         {"integration", describe(found.status)},
                         {"warnings", warnings_json(found.warnings)}};
  if (found.support)
    json["outside"] = {{"numerator", found.support->numerator_outside},
                       {"denominator", found.support->denominator_outside}};
  if (found.reweighted_auc) json["auc_after_reweighting"] = to_json(*found.reweighted_auc);
  return json;
}

Names other_paths(const Estimator& estimator) {
  const auto all_can = [&](auto can) {
    bool any = false;
    for (const auto& member : estimator.members()) {
      if (member.weight == 0) continue;
      if (!can(*member.score)) return false;
      any = true;
    }
    return any;
  };
  Names paths;
  if (all_can([](const Score& score) { return ability<DataScore>(score) != nullptr; }))
    paths.emplace_back("line");
  if (all_can([](const Score& score) {
        return ability<DataScore>(score) && ability<FlowField>(score);
      }))
    paths.emplace_back("flow");
  return paths;
}

Tensor path_disagreement(const Estimator& estimator, const Tensor& raw,
                         const IntegrateOptions& options) {
  const Tensor horizontal = estimator.log_ratio(raw, {"horizontal", options}).log_ratio;
  Tensor largest = torch::zeros_like(horizontal);
  for (const auto& path : other_paths(estimator))
    largest = torch::maximum(largest, differences(estimator, raw, horizontal, path, options));
  return largest;
}

}  // namespace dre
