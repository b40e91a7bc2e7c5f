/// Divergences that formulas give exactly, in nats.
#pragma once

#include <torch/types.h>

#include <cstdint>

namespace dre::pairs {

using torch::Tensor;

/// Rows and columns `begin` to `end` of a matrix, as of the covariance of these coordinates.
Tensor corner(const Tensor& matrix, int64_t begin, int64_t end);

/// KL(N(mean0, covariance0) || N(mean1, covariance1)). means: [d], covariances: [d, d]
double gaussian_kl(const Tensor& mean0, const Tensor& covariance0, const Tensor& mean1,
                   const Tensor& covariance1);

/// Mutual information of the first `first` coordinates with the others. covariance: [d, d]
double gaussian_mutual_information(const Tensor& covariance, int64_t first);

/// The same for the multivariate Student t: the Gaussian's value for its scale matrix plus a
/// constant of the tails, which is there even when nothing is correlated. scale: [d, d]
double student_mutual_information(int64_t degrees, const Tensor& scale, int64_t first);

/// Mutual information of X uniform on (0, 1) and Y = X + W, W uniform on (-width, width), for a
/// width of at most 1/2.
double additive_uniform_mutual_information(double width);

}  // namespace dre::pairs
