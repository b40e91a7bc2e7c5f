#include "dre/apps/two_sample_test.h"

#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <limits>

#include "dre/base/error.h"
#include "dre/data/checksum.h"
#include "dre/data/split.h"
#include "dre/numeric/statistics.h"

namespace dre {
namespace {

/// Where both sides have so many rows, the permutation law of a mean of bounded numbers is normal.
constexpr int64_t rows_for_normal = 50'000;

/// Sums in another order differ in their last digits; those are ties.
constexpr double tie = 1e-12;

/// Mean of the first values minus that of the others.
double difference(const Tensor& value, const Tensor& weight, int64_t first) {
  const auto mean = [](const Tensor& v, const Tensor& w) {
    return w.defined() ? ((v * w).sum() / w.sum()).item<double>() : v.mean().item<double>();
  };
  const auto part = [](const Tensor& all, int64_t from, int64_t to) {
    return all.defined() ? all.slice(0, from, to) : all;
  };
  const int64_t n = value.size(0);
  return mean(part(value, 0, first), part(weight, 0, first)) -
         mean(part(value, first, n), part(weight, first, n));
}

/// What permutations are compared by: without weights, the difference itself. Weights of one side
/// alone make its mean noisier than it is in permutations, where both sides have some of them;
/// there the difference counts by its error.
double compared(const Tensor& value, const Tensor& weight, int64_t first) {
  const double found = difference(value, weight, first);
  if (!weight.defined() || std::abs(found) <= tie) return found;
  const auto error = [&](int64_t from, int64_t to) {
    return standard_error(value.slice(0, from, to), weight.slice(0, from, to));
  };
  return found / std::hypot(error(0, first), error(first, value.size(0)));
}

/// Without rows that do not count.
TwoScores positive(const TwoScores& f) {
  const auto rows = [](const Tensor& all, const Tensor& weight) {
    return weight.defined() ? all.masked_select(weight > 0) : all;
  };
  const auto weights = [&](const Tensor& weight) {
    return weight.defined() ? rows(weight, weight) : weight;
  };
  return {rows(f.f0, f.weight0), weights(f.weight0), rows(f.f1, f.weight1), weights(f.weight1)};
}

/// chance: of a test whose rows are all alike, or as good as.
double normal_p_value(const Tensor& value, int64_t first, double statistic, double chance) {
  const auto n = static_cast<double>(value.size(0)), n0 = static_cast<double>(first);
  const double deviation = std::sqrt(value.var().item<double>() * n / (n0 * (n - n0)));
  if (deviation <= tie) return chance;
  const double tail =
      boost::math::cdf(boost::math::complement(boost::math::normal(), statistic / deviation));
  return std::max(tail, std::numeric_limits<double>::min());  // never quite impossible
}

/// Of the tested rows, whichever side they are on. Where all permutations tie, the p-value is
/// nothing but a draw: other rows must get another one.
std::string checksum_of(const Split& top, const Split& bottom) {
  const Tensor rows = torch::cat({top.held_out.x.sum(1), bottom.held_out.x.sum(1)});
  return tensor_checksum(std::get<0>(rows.sort()));
}

}  // namespace

TwoSampleTest permutation_test(const TwoScores& all, int64_t permutations,
                               at::Generator& generator) {
  const at::NoGradGuard no_grad;
  const TwoScores f = positive(all);
  const Tensor value = torch::tanh(torch::cat({f.f0, f.f1}) / 2);
  Tensor weight;
  if (f.weight0.defined() || f.weight1.defined()) {
    const auto full = [](const Tensor& w, const Tensor& like) {
      return w.defined() ? w : torch::ones_like(like);
    };
    weight = torch::cat({full(f.weight0, f.f0), full(f.weight1, f.f1)});
  }
  const int64_t first = f.f0.size(0), n = value.size(0);
  const auto chance = [&] { return uniform({1}, torch::kFloat64, generator).item<double>(); };
  TwoSampleTest out;
  out.rows = n;
  out.statistic = difference(value, weight, first);
  if (std::min(first, n - first) >= rows_for_normal && !weight.defined()) {
    out.p_value = normal_p_value(value, first, out.statistic, chance());
    return out;
  }
  out.permutations = permutations;
  int64_t greater = 0, equal = 0;
  const double own = compared(value, weight, first);
  for (int64_t i = 0; i < permutations; ++i) {
    const Tensor order = at::randperm(n, generator, torch::kInt64);
    const double other = compared(value.index_select(0, order),
                                  weight.defined() ? weight.index_select(0, order) : weight, first);
    if (other > own + tie)
      ++greater;
    else if (other >= own - tie)
      ++equal;
  }
  out.p_value = (static_cast<double>(greater) + chance() * static_cast<double>(equal + 1)) /
                static_cast<double>(permutations + 1);
  return out;
}

TwoSampleTest two_sample_test(const Samples& numerator, const Samples& denominator,
                              const std::vector<std::string>& names, const FitOptions& options,
                              int64_t fit_rows, int64_t permutations, Progress& progress) {
  Context context;
  context.seed = static_cast<uint64_t>(options.seed);
  auto generator = context.generator("two-sample test");
  const Split top = split(numerator, 0.5, generator), bottom = split(denominator, 0.5, generator);
  FitOptions own = options;
  own.columns = with_outliers_ranked(own.columns, numerator, denominator, names);
  own.seed = later_seed(own.seed, 1000);  // a fit of its own, not one of the folds
  // Half of what other fits may use: allow_for_bias compares this one with them.
  const Samples top_rows = sampled(top.train, fit_rows / 2, generator);
  const Samples bottom_rows = sampled(bottom.train, fit_rows / 2, generator);
  const FitResult result = fit_any(top_rows, bottom_rows, names, own, progress);
  TwoSampleTest out;
  out.interrupted = result.interrupted;
  if (out.interrupted) return out;
  // The rows that stopped the training have a say in what of it counts; the tested rows must not.
  const Samples top_look = top_rows.take(result.held_out_numerator);
  const Samples bottom_look = bottom_rows.take(result.held_out_denominator);
  const Opinions look0 = opinions(result.estimator, top_look.x);
  const Opinions look1 = opinions(result.estimator, bottom_look.x);
  const BelievedOpinions believed =
      believed_opinions(look0, top_look.weight, look1, bottom_look.weight);
  const double share = learned_share(believed(look0), top_look.weight, believed(look1),
                                     bottom_look.weight, kept_weight(result));
  const Tensor &weight0 = top.held_out.weight, &weight1 = bottom.held_out.weight;
  const Opinions on_top = opinions(result.estimator, top.held_out.x);
  const Opinions on_bottom = opinions(result.estimator, bottom.held_out.x);
  auto shuffles = context.generator(text("permutations of ", checksum_of(top, bottom)));
  out = permutation_test(
      {believed(on_top).mixed(share), weight0, believed(on_bottom).mixed(share), weight1},
      permutations, shuffles);
  out.rated = {best_mix(on_top, weight0, on_bottom, weight1, kept_weight(result)),
               {top.held_out_rows, bottom.held_out_rows}};
  return out;
}

}  // namespace dre
