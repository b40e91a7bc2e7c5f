#include "benchmarks/pairs/closed_forms.h"

#include <cmath>

#include "dre/base/error.h"

namespace dre::pairs {
namespace {

double log_determinant(const Tensor& matrix) {
  return 2 * at::linalg_cholesky(matrix).diagonal().log().sum().item<double>();
}

/// log Gamma(v/2) - v/2 psi(v/2), the part of the Student t entropy that does not cancel.
double tail_term(int64_t degrees) {
  const double half = 0.5 * static_cast<double>(degrees);
  const double digamma = at::digamma(torch::tensor(half, torch::kFloat64)).item<double>();
  return std::lgamma(half) - half * digamma;
}

}  // namespace

Tensor corner(const Tensor& matrix, int64_t begin, int64_t end) {
  return matrix.slice(0, begin, end).slice(1, begin, end);
}

double gaussian_kl(const Tensor& mean0, const Tensor& covariance0, const Tensor& mean1,
                   const Tensor& covariance1) {
  const Tensor factor1 = at::linalg_cholesky(covariance1);
  const Tensor spread =
      at::linalg_solve_triangular(factor1, at::linalg_cholesky(covariance0), /*upper=*/false);
  const Tensor shift =
      at::linalg_solve_triangular(factor1, (mean0 - mean1).unsqueeze(1), /*upper=*/false);
  const double squares = (spread.square().sum() + shift.square().sum()).item<double>();
  const double logs = log_determinant(covariance1) - log_determinant(covariance0);
  return 0.5 * (squares + logs - static_cast<double>(mean0.size(0)));
}

double gaussian_mutual_information(const Tensor& covariance, int64_t first) {
  const int64_t d = covariance.size(0);
  return 0.5 * (log_determinant(corner(covariance, 0, first)) +
                log_determinant(corner(covariance, first, d)) - log_determinant(covariance));
}

double student_mutual_information(int64_t degrees, const Tensor& scale, int64_t first) {
  const int64_t d = scale.size(0);
  return gaussian_mutual_information(scale, first) + tail_term(degrees) + tail_term(degrees + d) -
         tail_term(degrees + first) - tail_term(degrees + d - first);
}

double additive_uniform_mutual_information(double width) {
  check(0 < width && width <= 0.5, "the formula needs a width in (0, 1/2], got ", width);
  return width - std::log(2 * width);
}

}  // namespace dre::pairs
