/// Diagonal moments of both sides, and what a Gaussian reference should make of sample moments.
#pragma once

#include <torch/types.h>

namespace dre {

using torch::Tensor;

/// Means and variances of the numerator (0) and the denominator (1): [d] each, float64.
struct Moments {
  Tensor mean0, variance0, mean1, variance1;
};

/// Takes the sampling noise out of sample moments in a Basis: differences between the sides that
/// the sample sizes do not support become zero, clear ones stay nearly as they are.
///
/// Variances. δ = ½ log(v0/v1) = artanh((v0 - v1)/(v0 + v1)), in which the noise of a single
/// variance does not grow with the difference. Near 0 they are the eigenvalues of a matrix with
/// symmetric sampling noise of variance s = (1/n0 + 1/n1)/4 off the diagonal and 2s on it. Equal
/// covariances give a semicircle that ends at |δ| = 2√(s d) = √(2d/n), n the harmonic mean of the
/// effective sizes. Candidates are m + e (1 - τ²/e²)₊, e = δ - m, with m zero or the mean of δ (a
/// change of overall scale), τ several shares of that edge, and "no difference". Stein's unbiased
/// estimate of the squared error, which is half the mean square error of log r, picks one; a
/// difference must gain six noise variances. A direction in which one side is flat (a share below
/// 1e-8 of the other) has no Gaussian log-ratio and counts as equal. Where δ becomes 0, both sides
/// have the pooled variance.
///
/// Means. m0 - m1 is shrunk towards the common mean by the positive-part James–Stein factor
/// 1 - (d-2)/T, T = Σ Δ²/Var Δ: never worse in squared error for d >= 3, no change for d <= 2, and
/// next to none for clear shifts (T >> d).
Moments threshold(const Moments& moments, double effective0, double effective1);

}  // namespace dre
