/// Tangents of functions of (x, t) against autograd of their values.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "tests/dual/jvp.h"
#include "tests/support/gaussian_pair.h"

namespace dre::testing {

/// A direction in (x, t) that treats every entry differently.
inline Points direction_of(const Points& at) {
  const Tensor index = torch::arange(at.x.numel(), at.x.options()).view_as(at.x);
  return {(index + 1).sin(), (index.select(1, 0) * 0.3).cos().unsqueeze(1)};
}

/// The derivative along a direction by autograd. value: [n] or [n, k], row by row of its own row of
/// (x, t) -> same shape
inline Tensor directional(const Tensor& value, const Points& at, const Points& along) {
  const Tensor columns = value.dim() == 1 ? value.unsqueeze(1) : value;
  std::vector<Tensor> out;
  for (int64_t k = 0; k < columns.size(1); ++k) {
    const auto by = gradients(columns.select(1, k).sum(), {at.x, at.t});
    out.push_back((by[0] * along.x).sum(1) + (by[1] * along.t).squeeze(1));
  }
  return torch::stack(out, 1).view_as(value);
}

/// function(Dual x, Dual t) -> Dual: its tangents along x, along t and along both.
template <class Function>
void expect_tangents(const std::string& label, const Points& points, Function function) {
  const Points at{points.x.clone().requires_grad_(), points.t.clone().requires_grad_()};
  const Points v = direction_of(points);
  const Points none{torch::zeros_like(v.x), torch::zeros_like(v.t)};
  const Tensor value = function(Dual(at.x), Dual(at.t)).value;
  const Dual by_t = function(Dual(at.x), Dual(at.t, v.t));
  const Dual by_x = function(Dual(at.x, v.x), Dual(at.t));
  const Dual by_both = function(Dual(at.x, v.x), Dual(at.t, v.t));
  EXPECT_LT(difference(by_t.tangent, directional(value, at, {none.x, v.t})), 1e-9) << label;
  EXPECT_LT(difference(by_x.tangent, directional(value, at, {v.x, none.t})), 1e-9) << label;
  EXPECT_LT(difference(by_both.tangent, directional(value, at, v)), 1e-9) << label;
  for (const Dual& dual : {by_t, by_x, by_both})
    EXPECT_LT(difference(dual.value, value), 1e-14) << label;
}

}  // namespace dre::testing
