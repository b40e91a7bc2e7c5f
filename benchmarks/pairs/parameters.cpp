#include "benchmarks/pairs/parameters.h"

#include <cmath>
#include <numbers>

namespace dre::pairs {

double FixedNumbers::uniform() { return (static_cast<double>(engine_() >> 11) + 0.5) * 0x1p-53; }

double FixedNumbers::normal() {
  const double radius = std::sqrt(-2 * std::log(uniform()));
  return radius * std::cos(2 * std::numbers::pi * uniform());
}

Tensor FixedNumbers::normals(int64_t rows, int64_t columns) {
  Tensor values = torch::empty({rows, columns}, torch::kFloat64);
  double* data = values.data_ptr<double>();
  for (int64_t i = 0; i < rows * columns; ++i) data[i] = normal();
  return values;
}

Tensor identity_matrix(int64_t d) { return torch::eye(d, torch::kFloat64); }

Tensor constant(int64_t d, double value) { return torch::full({d}, value, torch::kFloat64); }

Tensor equicorrelated(int64_t d, double rho) {
  return (1 - rho) * identity_matrix(d) + rho * torch::ones({d, d}, torch::kFloat64);
}

Tensor autoregressive(int64_t d, double rho) {
  const Tensor index = torch::arange(d, torch::kFloat64);
  return at::pow(rho, (index.unsqueeze(0) - index.unsqueeze(1)).abs());
}

Tensor paired(int64_t half, int64_t pairs, double rho) {
  Tensor coupling = torch::zeros({half, half}, torch::kFloat64);
  coupling.diagonal().slice(0, 0, pairs).fill_(rho);
  const Tensor eye = identity_matrix(half);
  return torch::cat({torch::cat({eye, coupling}, 1), torch::cat({coupling, eye}, 1)});
}

}  // namespace dre::pairs
