#include "dre/data/planes.h"

#include <ATen/core/grad_mode.h>

#include <tuple>

namespace dre {
namespace {

constexpr double flat = 1e-8;  // of the variance of columns that are brought to variance 1
constexpr double farther = 10;

/// Distances from planes through the origin, for the size of a row. z: [n, d], axes: [d, k]
Tensor distances(const Tensor& z, const Tensor& axes) {
  return z.mm(axes).abs() / std::get<0>(z.abs().max(1, true)).clamp_min(1);
}

}  // namespace

Tensor off_planes(const Tensor& x, const Tensor& others) {
  const at::NoGradGuard no_grad;
  const Tensor deviation = others.std(0, false);
  const Tensor varying = (deviation > 0).nonzero().squeeze(1);
  // Few rows always lie in some plane.
  if (varying.size(0) < 2 || others.size(0) < 2 * varying.size(0))
    return torch::zeros({x.size(0), 0}, torch::kBool);
  const Tensor centre = others.mean(0);
  const auto standard = [&](const Tensor& rows) {
    return ((rows - centre) / deviation).index_select(1, varying);
  };
  const Tensor z = standard(others);
  const auto [variance, axes] = at::linalg_eigh(z.t().mm(z) / static_cast<double>(z.size(0)));
  const Tensor planes = axes.index_select(1, (variance < flat).nonzero().squeeze(1));
  if (planes.size(1) == 0) return torch::zeros({x.size(0), 0}, torch::kBool);
  const Tensor reach = std::get<0>(distances(z, planes).max(0, true)).clamp_min(1e-12);
  return distances(standard(x), planes) > farther * reach;
}

}  // namespace dre
