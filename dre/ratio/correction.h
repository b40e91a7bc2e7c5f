/// Corrections by one number: what is left of the normalisation error, measured on held-out rows.
#pragma once

#include "dre/data/samples.h"
#include "dre/numeric/measured.h"
#include "dre/ratio/path.h"

namespace dre {

/// The number to add to a score's log r.
///
/// For time scores, E_{p_t}[s] = 0 at every t, so int_0^1 E_{p_t}[s_theta] dt is an error of
/// normalisation; it is estimated at Gauss-Legendre nodes with coupled held-out points and added.
/// For classifiers it is the intercept that balances the held-out logistic loss: E_num[sigmoid(-log
/// r)] = E_den[sigmoid(log r)]. numerator, denominator: held-out rows in the score's coordinates
/// and precision.
Measured normalisation_error(const Score& score, const GaussianPath& gaussian,
                             const Samples& numerator, const Samples& denominator,
                             at::Generator& generator);

/// Log-ratios of rows and the rows' weights, [n] each, on the host.
struct RatedRows {
  Tensor log_ratio, weight;
};

/// weight: [n], or undefined: all ones.
RatedRows rated_rows(const Tensor& log_ratio, const Tensor& weight);

/// The intercept c that makes E_num[sigmoid(-(f + c))] = E_den[sigmoid(f + c)]; zero where fewer
/// than 100 effective rows of a side have a say in it.
Measured balancing_intercept(const RatedRows& numerator, const RatedRows& denominator);

/// Mean logistic loss of f as the log-odds of numerator against denominator, both sides counting
/// alike.
double logistic_loss(const RatedRows& numerator, const RatedRows& denominator);

/// How many rows of the side that has fewer decide that loss: the effective number of rows that f
/// takes to be on the wrong side. Few of them mean that the loss says nothing.
double deciding_rows(const RatedRows& numerator, const RatedRows& denominator);

/// Where fewer decide, they say nothing.
inline constexpr double fewest_deciding_rows = 100;

/// By how much the logistic loss of `better` is below that of `base`, on the same rows.
Measured logistic_gain(const RatedRows& base_numerator, const RatedRows& base_denominator,
                       const RatedRows& better_numerator, const RatedRows& better_denominator);

/// The share, 0 to `most`, of the deviation of `better` from `base` with the least logistic loss on
/// these rows. `most` with an infinite error where there is no deviation.
Measured best_share(const RatedRows& base_numerator, const RatedRows& base_denominator,
                    const RatedRows& better_numerator, const RatedRows& better_denominator,
                    double most);

}  // namespace dre
