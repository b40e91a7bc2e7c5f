/// Small statistics of one column, weighted where a weight makes sense. Everything in float64.
/// An undefined `weights` means equal weights; weights are not negative and not all zero.
#pragma once

#include <torch/types.h>

#include "dre/base/context.h"

namespace dre {

/// values: [n], n >= 1, weights: [n] or undefined.
double weighted_mean(const Tensor& values, const Tensor& weights = {});

/// Σ w (x - mean)^2 / Σ w: the weighted population variance.
double weighted_variance(const Tensor& values, const Tensor& weights = {});

/// Of the weighted mean as a ratio of two sums: sqrt(Σ w² (x - mean)²) / Σ w, times sqrt(n/(n-1)),
/// so that equal weights give the usual s / sqrt(n). n >= 2.
double standard_error(const Tensor& values, const Tensor& weights = {});

/// Kish: (Σ w)² / Σ w².
double effective_sample_size(const Tensor& weights);

/// weight · exp(log_weight), scaled so that the largest exp is 1; a row of weight 0 gets 0,
/// whatever its log-weight. [n] each -> [n]
Tensor scaled_weights(const Tensor& log_weight, const Tensor& weight);

/// log( Σ w exp(x) / Σ w ) without overflow; -infinity among the values is allowed.
double log_mean_exp(const Tensor& values, const Tensor& weights = {});

/// Linear interpolation between order statistics at (n - 1) p, as numpy's default. probabilities:
/// [k] in [0, 1] -> [k]. values: [n] without NaN.
Tensor sample_quantile(const Tensor& values, const Tensor& probabilities);
double sample_quantile(const Tensor& values, double probability);

/// A share or probability that rounding may have moved out of [0, 1]; NaN stays what it is.
double as_share(double sum);

/// P(positive > negative) + P(equal) / 2 under the two weighted samples: [n] and [m].
double auc(const Tensor& positive, const Tensor& negative, const Tensor& positive_weights = {},
           const Tensor& negative_weights = {});

/// Standard deviation of auc() between two samples of one continuous distribution, of so many rows
/// each; weighted rows count as their effective number.
double auc_error(double positive_rows, double negative_rows);

/// Kolmogorov and Smirnov: the largest gap between the distribution function of the values and that
/// of the uniform distribution on [0, 1]. values: [n]
double distance_from_uniform(const Tensor& values);

/// Ranks from 1 to n; ties share the mean of their places. values: [n] -> [n] float64
Tensor ranks(const Tensor& values);

/// Spearman's rank correlation: Pearson's of the ranks. NaN when either column is constant.
double rank_correlation(const Tensor& a, const Tensor& b);

}  // namespace dre
