#include "dre/apps/fixed_columns.h"

#include "dre/numeric/roughness.h"
#include "dre/numeric/statistics.h"

namespace dre {
namespace {

/// Orthonormal columns that span those of z, centred: [n, d]
Tensor centred_basis(const Tensor& z) { return std::get<0>(torch::linalg_qr(z - z.mean(0))); }

bool equal_directions(const Tensor& x, const Tensor& y) {
  constexpr double rounding = 1e-9;
  const Tensor basis = centred_basis(x);
  const auto [left, cosines, right] =
      torch::linalg_svd(torch::mm(basis.t(), centred_basis(y)), false);
  if (cosines[0].item<double>() < 1 - rounding) return false;
  const Tensor shared = torch::mv(basis, left.select(1, 0));
  const Tensor steps = std::get<0>(shared.sort()).diff() > rounding * shared.abs().max();
  return steps.sum().item<int64_t>() > x.size(0) / 2;
}

Tensor ranked(const Tensor& z) {
  std::vector<Tensor> columns;
  for (const Tensor& column : z.unbind(1)) columns.push_back(ranks(column));
  return torch::stack(columns, 1);
}

/// Whether values [n] have runs of equal ones in this order: of levels and rounded numbers the
/// entropy bounds the information. A few atoms among numbers that differ leave it without bound.
bool has_levels(const Tensor& values, const Tensor& order) {
  const Tensor length =
      std::get<2>(torch::unique_consecutive(values.index_select(0, order), false, true));
  return (length > 1).sum().item<double>() > 0.1 * static_cast<double>(length.size(0));
}

/// Whether a column of y is a function of x, of one column or two.
///
/// n rows show an information of log n at most. Noise that leaves a roughness of 0.001 in n rows of
/// one column (sd 0.01 / n beside a Gaussian) leaves an information of log n + 4; in two columns,
/// whose neighbours are farther away, a roughness of 0.0001 stands for log n + 3. So what is taken
/// for a function here is more than the rows could tell from one; as 2 000 rows decide, that ends
/// at 10 nats, or e^10 = 22 000 rows. In 200 draws and more of 200, 2 000 and 20 000 rows each,
/// Gaussians of correlation 0.9999, Cauchy columns, mixtures and x² + 0.05 noise were never below
/// 0.13, rounded numbers never below 0.02, sums and products of two columns with noise of 0.02 and
/// 0.05 never below 0.006; x², |x| and sin 3x were never above 0.00002.
bool smooth_function(const Tensor& x, const Tensor& y) {
  const bool one = x.size(1) == 1;
  for (const Tensor& j : (roughness(x, y) < (one ? 1e-3 : 1e-4)).nonzero().squeeze(1).unbind(0)) {
    const Tensor target = y.select(1, j.item<int64_t>());
    // A value that a function takes here and there is no level of it: neighbours in x tell.
    if (has_levels(target, one ? x.select(1, 0).argsort() : target.argsort())) continue;
    for (const Tensor& column : x.unbind(1))
      if (!has_levels(column, column.argsort())) return true;
  }
  return false;
}

bool some_smooth_function(const Tensor& x, const Tensor& y) {
  if (x.size(1) == 2 && smooth_function(x, y)) return true;
  if (x.size(1) + y.size(1) > 40) return false;
  for (const Tensor& column : x.split(1, 1))
    if (smooth_function(column, y)) return true;
  return false;
}

}  // namespace

bool one_fixes_the_other(const Tensor& x, const Tensor& y) {
  constexpr int64_t most = 10'000;
  if (x.size(0) < 4 * (x.size(1) + y.size(1))) return false;
  const Tensor some_x = x.slice(0, 0, most), some_y = y.slice(0, 0, most);
  return equal_directions(some_x, some_y) || equal_directions(ranked(some_x), ranked(some_y)) ||
         some_smooth_function(x, y) || some_smooth_function(y, x);
}

}  // namespace dre
