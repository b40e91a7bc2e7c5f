#include "dre/numeric/ridge.h"

#include <cmath>
#include <vector>

#include "dre/base/error.h"

namespace dre {

Tensor Polynomial::operator()(const Tensor& t) const {
  const Tensor x = t.to(torch::kFloat64);
  const Tensor c = coefficients.to(x.device());
  Tensor sum = torch::zeros_like(x);
  for (int64_t j = c.size(0) - 1; j >= 0; --j) sum = sum * x + c[j];
  return sum;
}

Polynomial fit_ridge(const Tensor& t, const Tensor& y, int64_t degree, double penalty) {
  const torch::NoGradGuard no_grad;
  check(t.dim() == 1 && y.dim() == 1 && t.size(0) == y.size(0) && t.size(0) >= 1,
        "t and y must be columns of the same length, got ", t.sizes(), " and ", y.sizes());
  check(degree >= 0 && degree <= 20, "degree must be between 0 and 20, got ", degree);
  check(penalty >= 0, "penalty must be at least 0, got ", penalty);
  const auto host = torch::dtype(torch::kFloat64).device(torch::kCPU);
  const Tensor x = t.detach().to(host), target = y.detach().to(host);
  if (degree == 0) return {target.mean().reshape({1})};
  std::vector<Tensor> powers;
  for (int64_t j = 1; j <= degree; ++j) powers.push_back(x.pow(j));
  const Tensor design = torch::stack(powers, 1);
  // Centring takes the unpenalised intercept out. The penalty enters as extra rows of a least
  // squares problem: the normal equations would square its condition.
  const Tensor mean = design.mean(0, true);
  const Tensor rows = torch::cat({design - mean, std::sqrt(penalty) * torch::eye(degree, host)});
  const Tensor targets = torch::cat({target - target.mean(), torch::zeros({degree}, host)});
  const Tensor slopes =
      std::get<0>(torch::linalg_lstsq(rows, targets.unsqueeze(1), {}, "gelsd")).squeeze(1);
  const Tensor intercept = target.mean() - mean.squeeze(0).dot(slopes);
  return {torch::cat({intercept.reshape({1}), slopes})};
}

}  // namespace dre
