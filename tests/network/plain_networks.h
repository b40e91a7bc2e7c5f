/// Networks over columns, written with LibTorch's own operations: what the tests compare with.
#pragma once

#include "tests/network/plain_unets.h"

namespace dre::testing {

inline Tensor plain_elu(const Tensor& x) {
  return torch::where(x > 0, x, torch::expm1(x.clamp_max(0)));
}
inline Tensor plain_silu(const Tensor& x) { return x * torch::sigmoid(x); }
inline Tensor plain_leaky(const Tensor& x) { return torch::where(x > 0, x, 0.3 * x); }

inline Tensor plain_stack(const Plain& p, const std::string& name, Tensor x,
                          Tensor (*activation)(const Tensor&)) {
  for (int i = 0; p.count(text(name, ".", i, ".weight")); ++i) {
    if (i > 0) x = activation(x);
    x = torch::mm(x, p.at(text(name, ".", i, ".weight")).t()) + p.at(text(name, ".", i, ".bias"));
  }
  return x;
}

inline Tensor plain_joint(const Plain& p, const Tensor& x, const Tensor& t) {
  const Tensor trunk = plain_stack(p, "trunk", torch::cat({x, t}, 1), plain_elu);
  const int64_t half = trunk.size(1) / 2;
  return torch::cat({plain_stack(p, "time", trunk.narrow(1, 0, half), plain_elu),
                     plain_stack(p, "data", trunk.narrow(1, half, half), plain_elu)},
                    1);
}

/// One inverse a row, as the formulas are written.
inline Tensor plain_gaussian(const Plain& p, const Tensor& x, const Tensor& t) {
  const Tensor& root = p.at("root");
  const Tensor identity = torch::eye(x.size(1), x.options());
  const Tensor excess = torch::matrix_exp((root + root.t()) / 2) - identity;
  const Tensor m = torch::inverse(identity + (1 - t * t).unsqueeze(2) * excess);
  const Tensor column = x.unsqueeze(2), z = torch::matmul(m, column);
  const Tensor energy = torch::matmul(z.transpose(1, 2), torch::matmul(excess, z)).squeeze(2);
  const Tensor trace = (torch::matmul(excess, m) * identity).sum({1, 2}).unsqueeze(1);
  return torch::cat({-t * (energy - trace), -z.squeeze(2)}, 1);
}

inline Tensor plain_gaussian_1d(const Plain& p, const Tensor& x, const Tensor& t) {
  const double gap = 1 - 0.3 * 0.3;
  const Tensor v = 1 - gap * (1 - t * t), offset = x - p.at("theta");
  return torch::cat({t * gap * (offset * offset - v) / (v * v), -offset / v}, 1);
}

inline Tensor plain_gated(const Plain& p, const Tensor& x, const Tensor& t) {
  const Tensor gates = plain_stack(p, "gates", 4 * t - 2, plain_silu);
  const auto dense = [&](const std::string& name, const Tensor& in) {
    return torch::mm(in, p.at(name + ".weight").t()) + p.at(name + ".bias");
  };
  const Tensor first = plain_silu(dense("layer.0", x) * (1 + gates.narrow(1, 0, 6)));
  const Tensor second = plain_silu(dense("layer.1", first) * (1 + gates.narrow(1, 6, 6)));
  return dense("last", second) + gates.narrow(1, 12, 2);
}

}  // namespace dre::testing
