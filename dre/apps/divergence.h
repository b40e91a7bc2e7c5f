/// Divergences between the two sides from out-of-fold log-ratios, each with a confidence interval.
///
/// The log-ratios f are first recalibrated, g = a + b f (see numeric/logistic_line.h). With g:
///   KL(num || den) = E_num[g],  KL(den || num) = -E_den[g],
///   JS = log 2 - (E_num[softplus(-g)] + E_den[softplus(g)]) / 2   (half of each side, nats),
///   TV = P_num(g > 0) - P_den(g > 0),  chi2(num || den) = E_num[exp g] - 1.
/// g's distribution on the two sides is at most as far apart as the sides themselves, so JS and TV
/// by it are bounded by the truth up to chance, and errors of f enter to second order only.
///
/// Standard errors: the influence of every row on the statistic, with that on a and b, gives the
/// variance of the rows; the spread of the statistic between the folds, each with a model of its
/// own, that of rows and refitting. The larger of the two is used; to that of KL comes what the
/// extrapolated part owes to the variance of the other side, which n rows tell to sqrt(2/n).
///
/// The upper end is at least what a shift of one column would make that so many rows may not show.
///
/// Numbers estimated from rows make more of these rows than of others, and of others less than the
/// true ones would. By how much log-ratios of rows that trained a model exceed those of rows that
/// did not, with the same a and b, tells how much is missing: as much for KL (the mean of both),
/// half of it for JS and TV. KL and JS are corrected by that, as far as they are surely above 0 and
/// at most to the double, where there are rows enough to fit a and b; lower ends and errors stay
/// those of the values before.
///
/// Three things that no spread shows raise the upper end, by the largest of them: what seen rows
/// tell, `factor` times, as a fit may also be too timid. A model that has learned less finds less:
/// by how much a model of half of the rows falls behind on the same rows, `factor` times. And KL
/// hangs on rows whose like the other side has next to none of: how large their ratios are is
/// extrapolated, and learned too timidly rather than too boldly; by as much again as they exceed
/// the largest ratios that rows of the other side do show, E_num[max(0, g - c)] with c the tenth
/// largest g of the denominator.
#pragma once

#include <vector>

#include "dre/apps/cross_fit.h"
#include "dre/numeric/logistic_line.h"

namespace dre {

struct Divergence {
  double value = 0, standard_error = 0;
  double low = 0, high = 0;  ///< ends of the confidence interval
  double unseen = 0;         ///< the part of KL that is extrapolated
};

struct Divergences {
  Divergence kl_numerator_denominator, kl_denominator_numerator, jensen_shannon, total_variation;
  Divergence chi_square;  ///< NaN where it may be infinite; no upper end where its error may be
  double level = 0;       ///< of the intervals
  LogisticLine calibration;
};

/// The line that recalibrates out-of-fold log-ratios; the identity where fewer than 100 rows of a
/// side are close enough to the other to say anything, and no mean of r or 1/r is surely above 1.
LogisticLine calibrate(const TwoScores& scores);

/// Numerical error where a log-ratio is not finite.
void check_finite_ratios(const TwoScores& f);

/// f: out-of-fold log-ratios and weights of the rows; folds: [n0] and [n1], int64. `tail`: the
/// Pareto k of the weights; chi2 is NaN from 1/2 on, and has no upper end from 1/3 on, or where
/// the tail is unknown, unless it is small.
Divergences measure_divergences(const TwoScores& f, const Tensor& fold0, const Tensor& fold1,
                                double tail, double level);

/// Corrects values and raises upper ends. `half`: by a model that was fitted to half of the rows,
/// of rows that it did not see. `seen`: by the models of `f`, of rows that they were trained on;
/// empty where nobody knows.
void allow_for_bias(Divergences& divergences, const TwoScores& f, const SomeScores& half,
                    const SomeScores& seen, double factor = 2);

/// A test that does not reject equality cannot exclude a divergence of 0.
void include_zero(Divergences& divergences);

}  // namespace dre
