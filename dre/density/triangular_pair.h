/// A matrix W = L U with a unit lower and an upper triangle: its determinant is the product of a
/// diagonal, which is positive here, and it is inverted by substitution.
#pragma once

#include "dre/base/context.h"
#include "dre/network/parameters.h"

namespace dre {

class TriangularPair final {
 public:
  /// Starts as the identity, with one parameter `name`.entries: L below the diagonal, U above it,
  /// and the logarithms of U's diagonal on it.
  TriangularPair(Parameters& parameters, const std::string& name, int64_t size,
                 const Context& context);

  int64_t size() const { return entries_.size(0); }

  Tensor matrix() const;           ///< [size, size]
  Tensor inverse() const;          ///< [size, size]
  Tensor log_determinant() const;  ///< []

  /// Makes W a symmetric positive definite matrix, [size, size]: such a one has an L U without
  /// exchange of rows.
  void set(const Tensor& symmetric);

 private:
  Tensor lower() const;
  Tensor upper() const;

  Tensor entries_;  ///< [size, size]
};

}  // namespace dre
