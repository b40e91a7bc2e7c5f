#include "tests/support/gaussian_oracle.h"

#include <torch/csrc/autograd/autograd.h>

#include <cmath>
#include <numbers>

#include "dre/base/context.h"

namespace dre::oracle {
namespace {

double log_determinant(const Tensor& matrix) {
  return at::linalg_eigvalsh(matrix).log().sum().item<double>();
}

/// Derivative of the sum of `value`, each row of which depends on its own row of `input`.
Tensor gradient(const Tensor& value, const Tensor& input) {
  return torch::autograd::grad({value.sum()}, {input})[0];
}

}  // namespace

Gaussian diagonal(const Tensor& mean, const Tensor& variances) { return {mean, variances.diag()}; }

Tensor log_prob(const Gaussian& gaussian, const Tensor& x) {
  const Tensor residual = (x - gaussian.mean).unsqueeze(2);
  const Tensor precision = at::linalg_inv(gaussian.covariance);
  const Tensor form = residual.transpose(1, 2).matmul(precision).matmul(residual).flatten();
  const Tensor log_det = at::logdet(gaussian.covariance);
  return -0.5 * (form + log_det + x.size(1) * std::log(2 * std::numbers::pi));
}

Tensor sample(const Gaussian& gaussian, int64_t n, at::Generator& generator) {
  const Tensor z = normal({n, gaussian.mean.size(0)}, torch::kFloat64, generator);
  return gaussian.mean + z.matmul(at::linalg_cholesky(gaussian.covariance).t());
}

double kl(const Gaussian& first, const Gaussian& second) {
  const Tensor precision = at::linalg_inv(second.covariance);
  const Tensor shift = first.mean - second.mean;
  const double trace = precision.matmul(first.covariance).trace().item<double>();
  const double form = shift.dot(precision.mv(shift)).item<double>();
  const double logs = log_determinant(second.covariance) - log_determinant(first.covariance);
  return 0.5 * (trace + form + logs - static_cast<double>(shift.size(0)));
}

double mutual_information(const Tensor& covariance, int64_t size) {
  const Tensor x = covariance.slice(0, 0, size).slice(1, 0, size);
  const Tensor y = covariance.slice(0, size).slice(1, size);
  return 0.5 * (log_determinant(x) + log_determinant(y) - log_determinant(covariance));
}

GaussianOracle::GaussianOracle(Gaussian numerator, Gaussian denominator)
    : numerator_(std::move(numerator)), denominator_(std::move(denominator)) {}

Tensor GaussianOracle::log_ratio(const Tensor& x) const {
  return oracle::log_prob(numerator_, x) - oracle::log_prob(denominator_, x);
}

Gaussian GaussianOracle::at(const Path& path, const Tensor& t) const {
  const Coefficients c = path(t);
  const Tensor a = c.a.unsqueeze(2), b = c.b.unsqueeze(2), variance = c.variance.unsqueeze(2);
  const Tensor eye = torch::eye(numerator_.mean.size(0), torch::kFloat64);
  return {
      c.a * numerator_.mean + c.b * denominator_.mean,
      a.square() * numerator_.covariance + b.square() * denominator_.covariance + variance * eye};
}

Tensor GaussianOracle::log_prob(const Path& path, const Tensor& x, const Tensor& t) const {
  return oracle::log_prob(at(path, t), x);
}

Tensor GaussianOracle::time_score(const Path& path, const Tensor& x, const Tensor& t) const {
  const at::AutoGradMode with_gradients(true);
  const Tensor time = t.detach().clone().set_requires_grad(true);
  return gradient(log_prob(path, x, time), time).flatten();
}

Tensor GaussianOracle::data_score(const Path& path, const Tensor& x, const Tensor& t) const {
  const at::AutoGradMode with_gradients(true);
  const Tensor rows = x.detach().clone().set_requires_grad(true);
  return gradient(log_prob(path, rows, t), rows);
}

}  // namespace dre::oracle
