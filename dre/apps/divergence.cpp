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

/// Its value for rows with the weights of f.
double total(const Statistic& s, const TwoScores& f) {
  return s.constant + weighted_mean(s.value0, f.weight0) + weighted_mean(s.value1, f.weight1);
}

double rows_of(const Tensor& f, const Tensor& weight) {
  return weight.defined() ? effective_sample_size(weight) : static_cast<double>(f.size(0));
}

class Measuring {
 public:
  Measuring(const TwoScores& f, const Tensor& fold0, const Tensor& fold1, const LogisticLine& line,
            double level)
      : f_(f),
        fold0_(fold0),
        fold1_(fold1),
        line_(line),
        quantile_(boost::math::quantile(boost::math::normal(), 0.5 + level / 2)) {}

  /// Clipped to [0, most]. `apart`: an error that comes to that of the rows.
  Divergence measure(const Statistic& s, double most, double apart) const {
    Divergence out;
    out.value = total(s, f_);
    out.standard_error = std::hypot(std::max(row_error(s), fold_error(s)), apart);
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
    return quantile_ * std::sqrt(1 / rows_of(f_.f0, f_.weight0) + 1 / rows_of(f_.f1, f_.weight1));
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

constexpr double infinity = std::numeric_limits<double>::infinity();

/// One divergence of all.
struct Measure {
  using Make = Statistic (*)(const Tensor& g0, const Tensor& g1);

  Divergence Divergences::*result;
  double most;     ///< how large it can be
  Make statistic;  ///< what makes it
  Make excess;     ///< what seen rows have more of; none: too rough
  double missing;  ///< in other rows, of this excess
  bool corrected;  ///< by that
};

Statistic of_numerator(const Tensor& value0, const Tensor& slope0, const Tensor& g1) {
  const Tensor none = torch::zeros_like(g1);
  return {value0, slope0, none, none};
}

Statistic kl_numerator(const Tensor& g0, const Tensor& g1) {
  return of_numerator(g0, torch::ones_like(g0), g1);
}

Statistic kl_denominator(const Tensor& g0, const Tensor& g1) {
  const Tensor none = torch::zeros_like(g0);
  return {none, none, -g1, -torch::ones_like(g1)};
}

Statistic jensen_shannon(const Tensor& g0, const Tensor& g1) {
  return {-0.5 * torch::softplus(-g0), 0.5 * torch::sigmoid(-g0),
          -0.5 * torch::softplus(g1),  -0.5 * torch::sigmoid(g1),
          std::numbers::ln2,           [](double shift) { return shift * shift / 8; }};
}

Statistic total_variation(const Tensor& g0, const Tensor& g1) {
  const auto above = [](const Tensor& g) { return 0.5 * ((g > 0).to(g) + (g >= 0).to(g)); };
  return {above(g0),  torch::zeros_like(g0),
          -above(g1), torch::zeros_like(g1),
          0,          [](double shift) { return std::erf(shift / std::sqrt(8)); }};
}

Statistic chi_square(const Tensor& g0, const Tensor& g1) {
  Statistic s = of_numerator(g0.exp(), g0.exp(), g1);
  s.constant = -1;
  s.least = [](double shift) { return std::expm1(shift * shift); };
  return s;
}

/// The sum of both KL. Rows of the smaller side are in excess by more, but both KL miss the same.
Statistic both_kl(const Tensor& g0, const Tensor& g1) {
  return {g0, torch::ones_like(g0), -g1, -torch::ones_like(g1)};
}

/// What is missing is that of N(s/2, I) against N(-s/2, I), whose log r = s . x has the direction
/// of an estimate of s, and the length that the rows ask for. Total variation, which is counted on
/// both sides of a threshold, is not corrected; chi-square hangs on too few rows.
constexpr Measure smooth = {
    &Divergences::jensen_shannon, std::numbers::ln2, jensen_shannon, jensen_shannon, 0.5, true};
constexpr Measure measures[] = {
    {&Divergences::kl_numerator_denominator, infinity, kl_numerator, both_kl, 0.5, true},
    {&Divergences::kl_denominator_numerator, infinity, kl_denominator, both_kl, 0.5, true},
    smooth,
    {&Divergences::total_variation, 1, total_variation, total_variation, 0.5, false},
    {&Divergences::chi_square, infinity, chi_square, nullptr, 0, false},
};

/// The value of a measure for scores that a line recalibrates.
double value_of(const Measure& measure, const TwoScores& f, const LogisticLine& line) {
  return std::clamp(total(measure.statistic(line(f.f0), line(f.f1)), f), 0.0, measure.most);
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

/// A part of KL that goes on where the other side has no rows hangs on how wide its law is, of
/// which a variance knows as much as its rows tell.
double error_of_unseen(double unseen, const Tensor& others, const Tensor& weight) {
  return unseen * std::sqrt(2 / rows_of(others, weight));
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

/// Those of some rows.
TwoScores picked(const TwoScores& f, const RowsOfSides& rows) {
  const auto pick = [](const Tensor& all, const Tensor& which) {
    return all.defined() ? all.index_select(0, which) : all;
  };
  return {pick(f.f0, rows.numerator), pick(f.weight0, rows.numerator), pick(f.f1, rows.denominator),
          pick(f.weight1, rows.denominator)};
}

const TwoScores& finite(const TwoScores& scores) {
  check_finite_ratios(scores);
  return scores;
}

/// By how much a model of half of the rows falls behind, on rows that it did not see.
class Behind {
 public:
  Behind(const TwoScores& f, const SomeScores& half)
      : more_(picked(f, half.rows)),
        less_(finite(half.scores)),
        more_line_(calibrate(more_)),
        less_line_(calibrate(less_)) {}

  double operator()(const Measure& measure) const {
    return whole(measure) - value_of(measure, less_, less_line_);
  }

  /// As a share of the whole, 0 where that is nothing.
  double share(const Measure& measure) const {
    return whole(measure) > 0 ? (*this)(measure) / whole(measure) : 0;
  }

 private:
  double whole(const Measure& measure) const { return value_of(measure, more_, more_line_); }

  TwoScores more_, less_;
  LogisticLine more_line_, less_line_;
};

/// What rows that no model has seen miss, by what the seen ones have more: at least 0.
class Missing {
 public:
  Missing(const TwoScores& f, const SomeScores& seen, const LogisticLine& line) : line_(line) {
    if (!seen.scores.f0.defined()) return;
    seen_ = finite(seen.scores);
    same_ = picked(f, seen.rows);
  }

  double operator()(const Measure& measure) const {
    if (!seen_.f0.defined() || measure.excess == nullptr) return 0;
    const auto value = [&](const TwoScores& scores) {
      return total(measure.excess(line_(scores.f0), line_(scores.f1)), scores);
    };
    return std::max(0.0, measure.missing * (value(seen_) - value(same_)));
  }

 private:
  TwoScores seen_, same_;
  const LogisticLine& line_;
};

}  // namespace

LogisticLine calibrate(const TwoScores& scores) {
  const RatedRows top = rated_rows(scores.f0, scores.weight0);
  const RatedRows bottom = rated_rows(scores.f1, scores.weight1);
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
  // Weights of a tail k have moments below order 1/k: chi2 is their second, its error the third.
  const bool finite_chi2 = !(tail >= 1.0 / 2), bounded_chi2 = tail < 1.0 / 3;
  Divergences out;
  out.level = level;
  out.calibration = calibrate(f);
  const Tensor g0 = out.calibration(f.f0), g1 = out.calibration(f.f1);
  const Measuring rows(f, fold0, fold1, out.calibration, level);
  const double unseen0 = unseen_part(g0, f.weight0, g1, f.weight1);
  const double unseen1 = unseen_part(-g1, f.weight1, -g0, f.weight0);
  for (const Measure& measure : measures) {
    const double apart = measure.result == &Divergences::kl_numerator_denominator
                             ? error_of_unseen(unseen0, f.f1, f.weight1)
                         : measure.result == &Divergences::kl_denominator_numerator
                             ? error_of_unseen(unseen1, f.f0, f.weight0)
                             : 0;
    out.*measure.result = rows.measure(measure.statistic(g0, g1), measure.most, apart);
  }
  out.kl_numerator_denominator.unseen = unseen0;
  out.kl_denominator_numerator.unseen = unseen1;
  Divergence& chi2 = out.chi_square;
  if (!finite_chi2 || !std::isfinite(chi2.value)) chi2 = {NAN, NAN, NAN, NAN};
  // Nearly equal weights have a shape of tail, too, but nothing hangs on it.
  if (chi2.value > 0.1 && !bounded_chi2) chi2.high = infinity;
  return out;
}

void allow_for_bias(Divergences& divergences, const TwoScores& f, const SomeScores& half,
                    const SomeScores& seen, double factor) {
  const at::NoGradGuard no_grad;
  const Behind behind(f, half);
  const Missing missing(f, seen, divergences.calibration);
  for (const Measure& measure : measures) {
    Divergence& found = divergences.*measure.result;
    if (std::isnan(found.high)) continue;
    double left = behind(measure);
    // Counts on both sides of a threshold are rough. Jensen-Shannon sees the same loss smoothly; it
    // is quadratic in small differences, total variation linear.
    if (measure.result == &Divergences::total_variation)
      left = std::max(left, 0.5 * behind.share(smooth) * found.value);
    const double less = missing(measure);
    const double raise = std::max({factor * left, factor * less, found.unseen});
    found.high = std::isfinite(left) ? std::min(measure.most, found.high + raise) : measure.most;
    // Chance makes something of nothing in seen rows; and where more is missing than was found,
    // nobody knows how much.
    const double sure = Measured{found.value, found.standard_error}.shrunk();
    if (measure.corrected && divergences.calibration.inverse_information.defined() && sure > 0)
      found.value = std::min(measure.most, found.value + std::min(1.0, less / found.value) * sure);
  }
}

void include_zero(Divergences& divergences) {
  for (const Measure& measure : measures) {
    Divergence& one = divergences.*measure.result;
    if (!std::isnan(one.value)) one.low = 0;
  }
}

}  // namespace dre
