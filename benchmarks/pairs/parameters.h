/// The fixed numbers behind the pairs: the same on every machine and with every LibTorch.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <random>

namespace dre::pairs {

using torch::Tensor;

/// Pseudo-random parameters from the one engine whose output the C++ standard fixes.
class FixedNumbers final {
 public:
  explicit FixedNumbers(uint64_t seed) : engine_(seed) {}

  double uniform();                               ///< in (0, 1)
  double normal();                                ///< standard normal
  Tensor normals(int64_t rows, int64_t columns);  ///< [rows, columns]

 private:
  std::mt19937_64 engine_;
};

Tensor identity_matrix(int64_t d);

/// The vector (value, ..., value). -> [d]
Tensor constant(int64_t d, double value);

/// 1 on the diagonal, rho everywhere else. -> [d, d]
Tensor equicorrelated(int64_t d, double rho);

/// rho^|i-j|. -> [d, d]
Tensor autoregressive(int64_t d, double rho);

/// Correlation of x_i with y_i is rho for i < pairs; everything else is independent.
/// -> [2 half, 2 half], the x first
Tensor paired(int64_t half, int64_t pairs, double rho);

}  // namespace dre::pairs
