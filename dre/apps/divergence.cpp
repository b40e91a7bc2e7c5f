#include "dre/apps/divergence.h"

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <limits>
#include <numbers>

#include "dre/base/error.h"
#include "dre/numeric/statistics.h"
#include "dre/ratio/correction.h"

namespace dre {
namespace {

constexpr int64_t rows_that_show = 10;

/// What a statistic E_num[h] + E_den[k] makes of the rows, with derivatives in g.
struct Statistic {
  Tensor value0, slope0;  // h(g), h'(g) at numerator rows
  Tensor value1, slope1;  // k(g), k'(g) at denominator rows
  double constant = 0;
  /// The statistic of N(shift, 1) against N(0, 1), for small shifts.
  double (*least)(double shift) = [](double shift) { return shift * shift / 2; };
};

class Measuring {
 public:
  Measuring(const TwoScores& f, const Tensor& fold0, const Tensor& fold1, const LogisticLine& line,
            double level)
      : f_(f),
        fold0_(fold0),
        fold1_(fold1),
        line_(line),
        quantile_(boost::math::quantile(boost::math::normal(), 0.5 + level / 2)) {}

  /// Clipped to [0, most].
  Divergence measure(const Statistic& s, double most) const {
    Divergence out;
    out.value =
        s.constant + weighted_mean(s.value0, f_.weight0) + weighted_mean(s.value1, f_.weight1);
    out.standard_error = std::max(row_error(s), fold_error(s));
    const auto inside = [&](double x) { return std::clamp(x, 0.0, most); };
    out.low = inside(out.value - quantile_ * out.standard_error);
    out.high =
        inside(std::max(out.value + quantile_ * out.standard_error, s.least(hidden_shift())));
    out.value = inside(out.value);
    return out;
  }

 private:
  /// A shift of one column, in standard deviations, that so many rows may well not show: where no
  /// difference was found, one of that size is not excluded.
  double hidden_shift() const {
    const auto rows = [](const Tensor& f, const Tensor& weight) {
      return weight.defined() ? effective_sample_size(weight) : static_cast<double>(f.size(0));
    };
    return quantile_ * std::sqrt(1 / rows(f_.f0, f_.weight0) + 1 / rows(f_.f1, f_.weight1));
  }

  double row_error(const Statistic& s) const {
    // How a and b move the statistic.
    const auto pull = [](const Tensor& slope, const Tensor& f, const Tensor& weight) {
      return torch::tensor({weighted_mean(slope, weight), weighted_mean(slope * f, weight)},
                           torch::kFloat64);
    };
    const Tensor gradient = pull(s.slope0, f_.f0, f_.weight0) + pull(s.slope1, f_.f1, f_.weight1);
    const Tensor first = s.value0 + line_.influence(f_.f0, 0).mv(gradient);
    const Tensor second = s.value1 + line_.influence(f_.f1, 1).mv(gradient);
    return std::hypot(standard_error(first, f_.weight0), standard_error(second, f_.weight1));
  }

  double fold_error(const Statistic& s) const {
    const int64_t folds = fold0_.max().item<int64_t>() + 1;
    std::vector<double> each;
    for (int64_t k = 0; k < folds; ++k)
      each.push_back(mean_in_fold(s.value0, f_.weight0, fold0_, k) +
                     mean_in_fold(s.value1, f_.weight1, fold1_, k));
    return standard_error(torch::tensor(each, torch::kFloat64));
  }

  static double mean_in_fold(const Tensor& value, const Tensor& weight, const Tensor& fold,
                             int64_t k) {
    const Tensor in = fold == k;
    const Tensor own = weight.defined() ? weight.masked_select(in) : weight;
    if (own.defined() && own.sum().item<double>() == 0) return weighted_mean(value, weight);
    return weighted_mean(value.masked_select(in), own);
  }

  const TwoScores& f_;
  const Tensor &fold0_, &fold1_;
  const LogisticLine& line_;
  double quantile_;
};

Statistic mean_of_numerator(const Tensor& value0, const Tensor& slope0, const Tensor& g1) {
  const Tensor none = torch::zeros_like(g1);
  return {value0, slope0, none, none};
}

/// E[max(0, g - c)] over `own` rows, c the tenth largest value of the `other` side's rows that have
/// a weight.
double unseen_part(const Tensor& own, const Tensor& weight, const Tensor& all_others,
                   const Tensor& other_weight) {
  const Tensor other =
      other_weight.defined() ? all_others.masked_select(other_weight > 0) : all_others;
  const int64_t shown = std::min(rows_that_show, other.size(0));
  const double most = std::get<0>(other.topk(shown))[shown - 1].item<double>();
  return weighted_mean((own - most).clamp_min(0), weight);
}

/// Whether the mean of exp(f) is above 1 by more than chance: what a sample misses of a heavy tail
/// could only have added to it.
bool surely_above_one(const RatedRows& rows) {
  const Tensor f = rows.log_ratio.masked_select(rows.weight > 0);
  const Tensor weight = rows.weight.masked_select(rows.weight > 0);
  const double largest = f.max().item<double>();
  const Tensor scaled = (f - largest).exp();
  return weighted_mean(scaled, weight) - std::exp(-largest) > 3 * standard_error(scaled, weight);
}

}  // namespace

LogisticLine calibrate(const TwoScores& scores) {
  const auto rated = [](const Tensor& f, const Tensor& weight) -> RatedRows {
    return {f, weight.defined() ? weight : torch::ones_like(f)};
  };
  const RatedRows top = rated(scores.f0, scores.weight0), bottom = rated(scores.f1, scores.weight1);
  const bool many = deciding_rows(top, bottom) >= fewest_deciding_rows;
  const RatedRows inverse{-top.log_ratio, top.weight};
  if (!many && !surely_above_one(bottom) && !surely_above_one(inverse)) return {};
  return fit_logistic_line(scores);
}

void check_finite_ratios(const TwoScores& f) {
  const auto check_side = [](const Tensor& log_ratio, const char* side) {
    const int64_t bad = log_ratio.isfinite().logical_not().sum().item<int64_t>();
    if (bad > 0)
      fail(Error::Kind::numerical, "log r is not finite at ", bad, " rows of the ", side,
           "; try another --method, a smaller --rate, or --transform rank");
  };
  check_side(f.f0, "numerator");
  check_side(f.f1, "denominator");
}

Divergences measure_divergences(const TwoScores& f, const Tensor& fold0, const Tensor& fold1,
                                double tail, double level) {
  const at::NoGradGuard no_grad;
  check_finite_ratios(f);
  const double infinity = std::numeric_limits<double>::infinity();
  // Weights of a tail k have moments below order 1/k: chi2 is their second, its error the third.
  const bool finite_chi2 = !(tail >= 1.0 / 2), bounded_chi2 = tail < 1.0 / 3;
  Divergences out;
  out.level = level;
  out.calibration = calibrate(f);
  const Tensor g0 = out.calibration(f.f0), g1 = out.calibration(f.f1);
  const Tensor none0 = torch::zeros_like(g0), none1 = torch::zeros_like(g1);
  const Measuring rows(f, fold0, fold1, out.calibration, level);
  out.kl_numerator_denominator =
      rows.measure(mean_of_numerator(g0, torch::ones_like(g0), g1), infinity);
  out.kl_denominator_numerator = rows.measure({none0, none0, -g1, -torch::ones_like(g1)}, infinity);
  out.kl_numerator_denominator.unseen = unseen_part(g0, f.weight0, g1, f.weight1);
  out.kl_denominator_numerator.unseen = unseen_part(-g1, f.weight1, -g0, f.weight0);
  out.jensen_shannon =
      rows.measure({-0.5 * torch::softplus(-g0), 0.5 * torch::sigmoid(-g0),
                    -0.5 * torch::softplus(g1), -0.5 * torch::sigmoid(g1), std::numbers::ln2,
                    [](double shift) { return shift * shift / 8; }},
                   std::numbers::ln2);
  const auto above = [](const Tensor& g) { return 0.5 * ((g > 0).to(g) + (g >= 0).to(g)); };
  out.total_variation = rows.measure({above(g0), none0, -above(g1), none1, 0,
                                      [](double shift) { return std::erf(shift / std::sqrt(8)); }},
                                     1);
  out.chi_square = {NAN, NAN, NAN, NAN};
  if (finite_chi2) {
    Statistic s = mean_of_numerator(g0.exp(), g0.exp(), g1);
    s.constant = -1;
    s.least = [](double shift) { return std::expm1(shift * shift); };
    out.chi_square = rows.measure(s, infinity);
    if (!std::isfinite(out.chi_square.value)) out.chi_square = {NAN, NAN, NAN, NAN};
    // Nearly equal weights have a shape of tail, too, but nothing hangs on it.
    const bool matters = out.chi_square.value > 0.1;
    if (matters && !bounded_chi2) out.chi_square.high = infinity;
  }
  return out;
}

void allow_for_bias(Divergences& divergences, const TwoScores& f, const TwoScores& half,
                    const Tensor& rows0, const Tensor& rows1, double factor) {
  const auto pick = [](const Tensor& all, const Tensor& rows) {
    return all.defined() ? all.index_select(0, rows) : all;
  };
  const TwoScores same{pick(f.f0, rows0), pick(f.weight0, rows0), pick(f.f1, rows1),
                       pick(f.weight1, rows1)};
  const auto measured = [&](const TwoScores& scores) {
    // One row of fold 0 and one of fold 1 suffice where no standard error is asked for.
    const Tensor fold0 = torch::arange(scores.f0.size(0)) % 2;
    const Tensor fold1 = torch::arange(scores.f1.size(0)) % 2;
    const double tail = std::isnan(divergences.chi_square.value) ? 1 : 0;
    return measure_divergences(scores, fold0, fold1, tail, divergences.level);
  };
  const Divergences more = measured(same), less = measured(half);
  const auto raise = [&](Divergence Divergences::*one, double behind, double most) {
    Divergence& found = divergences.*one;
    if (!std::isnan(found.high))
      found.high = std::min(most, found.high + std::max(factor * behind, found.unseen));
  };
  const auto own = [&](Divergence Divergences::*one) {
    return (more.*one).value - (less.*one).value;
  };
  const double infinity = std::numeric_limits<double>::infinity();
  for (const auto one : {&Divergences::kl_numerator_denominator,
                         &Divergences::kl_denominator_numerator, &Divergences::chi_square})
    raise(one, own(one), infinity);
  raise(&Divergences::jensen_shannon, own(&Divergences::jensen_shannon), std::numbers::ln2);
  // Counts on both sides of a threshold are rough. Jensen-Shannon sees the same loss smoothly; it
  // is quadratic in small differences, total variation linear.
  const double relative = more.jensen_shannon.value > 0
                              ? own(&Divergences::jensen_shannon) / more.jensen_shannon.value
                              : 0;
  raise(&Divergences::total_variation,
        std::max(own(&Divergences::total_variation),
                 0.5 * relative * divergences.total_variation.value),
        1);
}

void include_zero(Divergences& divergences) {
  for (Divergence* one :
       {&divergences.kl_numerator_denominator, &divergences.kl_denominator_numerator,
        &divergences.jensen_shannon, &divergences.total_variation, &divergences.chi_square})
    if (!std::isnan(one->value)) one->low = 0;
}

}  // namespace dre
