/// Exact answers for Gaussian pairs, in float64 and by autograd: an oracle that shares no formula
/// with the library. The path is x_t = a x0 + b x1 + sigma eps with Gaussian ends, so x_t is
/// N(a m0 + b m1, a^2 V0 + b^2 V1 + sigma^2 I).
#pragma once

#include <torch/types.h>

#include <functional>

namespace dre::oracle {

using torch::Tensor;

/// mean: [d], covariance: [d, d]; for a path at n times, mean: [n, d], covariance: [n, d, d]
struct Gaussian {
  Tensor mean, covariance;
};

/// mean: [d], variances: [d]
Gaussian diagonal(const Tensor& mean, const Tensor& variances);

/// x: [n, d] -> [n]
Tensor log_prob(const Gaussian& gaussian, const Tensor& x);

/// -> [n, d]
Tensor sample(const Gaussian& gaussian, int64_t n, at::Generator& generator);

/// KL(first || second) in nats.
double kl(const Gaussian& first, const Gaussian& second);

/// Mutual information of the first `size` coordinates with the others, in nats.
double mutual_information(const Tensor& covariance, int64_t size);

/// A bridge at times t: every member has the shape of t, [n, 1].
struct Coefficients {
  Tensor a, b, variance;  ///< variance is sigma^2
};

/// Differentiable in t: the oracle takes derivatives of it by autograd.
using Path = std::function<Coefficients(const Tensor& t)>;

class GaussianOracle final {
 public:
  GaussianOracle(Gaussian numerator, Gaussian denominator);

  const Gaussian& numerator() const { return numerator_; }
  const Gaussian& denominator() const { return denominator_; }

  /// log numerator - log denominator. x: [n, d] -> [n]
  Tensor log_ratio(const Tensor& x) const;

  /// Mean and covariance of x_t. t: [n, 1]
  Gaussian at(const Path& path, const Tensor& t) const;

  /// log p_t(x). x: [n, d], t: [n, 1] -> [n]
  Tensor log_prob(const Path& path, const Tensor& x, const Tensor& t) const;

  /// d/dt log p_t(x). x: [n, d], t: [n, 1] -> [n]
  Tensor time_score(const Path& path, const Tensor& x, const Tensor& t) const;

  /// grad_x log p_t(x). x: [n, d], t: [n, 1] -> [n, d]
  Tensor data_score(const Path& path, const Tensor& x, const Tensor& t) const;

 private:
  Gaussian numerator_, denominator_;
};

}  // namespace dre::oracle
