/// Dual numbers of tensors: f(x) and its directional derivative J_f(x) v, propagated together.
///
/// The time score loss needs ds/dt and the joint loss v' (ds/dx) v. Both are tangents of one Dual
/// pass, and the loss is then differentiated by one ordinary backward: no double backward.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <utility>
#include <vector>

namespace dre {

using torch::Tensor;

/// A value and its directional derivative along one tangent direction.
/// An undefined tangent is zero: rules then do value-only work.
struct Dual {
  Tensor value;
  Tensor tangent;  ///< shape of `value`, or undefined

  Dual() = default;
  Dual(Tensor constant) : value(std::move(constant)) {}  // NOLINT: constants are duals
  Dual(Tensor value_, Tensor tangent_) : value(std::move(value_)), tangent(std::move(tangent_)) {}

  bool defined() const { return value.defined(); }
  bool has_tangent() const { return tangent.defined(); }

  // Friends, so that they are found for duals only: an expression of plain tensors must never
  // become a Dual by the conversion above.

  /// Element-wise, with broadcasting as for tensors.
  friend Dual operator+(const Dual& a, const Dual& b);
  friend Dual operator-(const Dual& a, const Dual& b);
  friend Dual operator*(const Dual& a, const Dual& b);
  friend Dual operator-(const Dual& a);
  friend Dual operator*(const Dual& a, double factor);
  friend Dual operator*(double factor, const Dual& a);
  friend Dual operator+(const Dual& a, double term);
  friend Dual square(const Dual& a);
  friend Dual reciprocal(const Dual& a);

  /// Sum over one dimension.
  friend Dual sum(const Dual& a, int64_t dim, bool keepdim);
  friend Dual sum(const Dual& a, int64_t dim) { return sum(a, dim, false); }

  /// Columns [start, start + length) of the last dimension, as a view.
  friend Dual narrow(const Dual& a, int64_t start, int64_t length);

  /// The last dimension cut into parts of the given sizes, which add up to it.
  friend std::vector<Dual> split(const Dual& a, const std::vector<int64_t>& sizes);

  /// The same numbers, cut from the graph of the backward pass.
  friend Dual detach(const Dual& a);
};

/// Parts joined along `dim`; parts without tangent count as constants where others have one.
Dual cat(const std::vector<Dual>& parts, int64_t dim);

}  // namespace dre
