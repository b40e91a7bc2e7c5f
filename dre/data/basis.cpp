#include "dre/data/basis.h"

#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <cmath>

#include "dre/base/error.h"
#include "dre/base/names.h"
#include "dre/data/place.h"

namespace dre {
namespace {

constexpr double flat_share = 1e-10;

struct SideMoments {
  Tensor mean;        // [d]
  Tensor covariance;  // [d, d]
};

/// Σ over blocks of rows of f(rows as float64, weights as a column).
template <class Function>
Tensor sum_over_blocks(const Samples& samples, Function f) {
  const Tensor weight = samples.weights().unsqueeze(1);
  Tensor sum;
  constexpr int64_t block_rows = 65536;  // bounds the float64 copy of a block
  for (int64_t start = 0; start < samples.rows(); start += block_rows) {
    const int64_t stop = std::min(start + block_rows, samples.rows());
    const Tensor term =
        f(samples.x.slice(0, start, stop).to(torch::kFloat64), weight.slice(0, start, stop));
    sum = sum.defined() ? sum + term : term;
  }
  return sum;
}

SideMoments moments_of(const Samples& samples) {
  const double total = samples.weights().sum().item<double>();
  const Tensor first = samples.x[0].to(torch::kFloat64);
  const Tensor mean = first + sum_over_blocks(samples, [&](const Tensor& x, const Tensor& w) {
                                return ((x - first) * w).sum(0);
                              }) / total;
  const Tensor covariance = sum_over_blocks(samples,
                                            [&](const Tensor& x, const Tensor& w) {
                                              const Tensor rest = x - mean;
                                              return (rest * w).t().mm(rest);
                                            }) /
                            total;
  return {mean.cpu(), ((covariance + covariance.t()) / 2).cpu()};
}

void check_rows(const Samples& samples, const char* side) {
  const int64_t needed = rows_needed(samples.columns());
  const double effective = effective_size(samples);
  const std::string weights =
      samples.weight.defined() ? text(" worth ", count_text(effective), " after weighting") : "";
  check_data(
      effective >= static_cast<double>(needed), "too few rows for the columns: ", samples.columns(),
      " columns need at least ", needed, " rows a side to learn from, the ", side, " leaves ",
      samples.rows(), weights,
      " (of rows that are split or cross-fitted only a part is learned from); add rows or drop "
      "columns");
}

/// The columns that make up most of a direction, for a message.
std::string main_columns(const Tensor& direction, const std::vector<std::string>& names) {
  const Tensor size = direction.abs();
  const Tensor chosen = (size > 0.3 * size.max()).nonzero().squeeze(1);
  std::vector<std::string> found;
  for (int64_t i = 0; i < std::min<int64_t>(chosen.size(0), 5); ++i) {
    const auto j = static_cast<size_t>(chosen[i].item<int64_t>());
    found.push_back(j < names.size() ? names[j] : text("number ", j + 1));
  }
  return join(found);
}

/// Dropping a flat direction is harmless only if both sides have the same value in it.
/// directions: [d, m], gap: [m], the distance of the sides in pooled standard deviations.
void check_same_hyperplane(const Tensor& directions, const Tensor& gap, double cut,
                           const std::vector<std::string>& names) {
  if (gap.numel() == 0) return;
  const int64_t worst = gap.abs().argmax().item<int64_t>();
  check_data(gap[worst].abs().item<double>() < 10 * std::sqrt(cut),
             "the sides are separated completely by columns in which neither varies: ",
             main_columns(directions.select(1, worst), names),
             "; the ratio is infinite there: drop a column");
}

struct Whitening {
  Tensor forward;  // [d, k]
  Tensor inverse;  // [k, d]
};

/// Makes `within` the identity on the directions that are not flat. gap: [d], between the means.
Whitening whitening(const Tensor& within, const Tensor& gap,
                    const std::vector<std::string>& names) {
  // Unit pooled variance, within and between the sides, so that "flat" does not depend on units.
  const Tensor variance = within.diagonal() + gap.square() / 4;
  const Tensor scale = at::where(variance > 0, variance, torch::ones_like(variance)).sqrt();
  const auto [share, axes] = at::linalg_eigh(within / scale.outer(scale));
  const double cut = flat_share * static_cast<double>(gap.numel());
  const Tensor flat = axes.index_select(1, (share <= cut).nonzero().squeeze(1));
  check_same_hyperplane(flat, (gap / scale).matmul(flat), cut, names);

  const Tensor kept = (share > cut).nonzero().squeeze(1);
  check_data(kept.numel() > 0, "neither side varies in any column; nothing can be compared");
  const Tensor axis = axes.index_select(1, kept);
  const Tensor root = share.index_select(0, kept).sqrt();
  return {axis / root / scale.unsqueeze(1), (axis * root * scale.unsqueeze(1)).t()};
}

}  // namespace

int64_t rows_needed(int64_t columns) { return std::max<int64_t>(10, 2 * (columns + 1)); }

Basis Basis::fit(const Samples& numerator, const Samples& denominator,
                 const std::vector<std::string>& names) {
  const at::NoGradGuard no_grad;
  check(numerator.columns() == denominator.columns(), "the numerator has ", numerator.columns(),
        " columns, the denominator ", denominator.columns(), "; both need the same");
  check_rows(numerator, "numerator");
  check_rows(denominator, "denominator");
  const SideMoments side0 = moments_of(numerator), side1 = moments_of(denominator);
  const Tensor gap = side0.mean - side1.mean;
  const Whitening white = whitening((side0.covariance + side1.covariance) / 2, gap, names);
  const auto [ignored, turn] =
      at::linalg_eigh(white.forward.t().mm(side0.covariance).mm(white.forward));

  Basis basis;
  basis.centre_ = (side0.mean + side1.mean) / 2;
  basis.forward_ = white.forward.mm(turn);
  basis.inverse_ = turn.t().mm(white.inverse);
  const auto variance = [&](const Tensor& covariance) {
    return (basis.forward_ * covariance.mm(basis.forward_)).sum(0).clamp_min(0);
  };
  const Tensor half_gap = (gap / 2).matmul(basis.forward_);
  basis.moments_ = {half_gap, variance(side0.covariance), -half_gap, variance(side1.covariance)};
  return basis;
}

Tensor Basis::forward(const Tensor& x, torch::ScalarType dtype) const {
  const at::NoGradGuard no_grad;
  check(x.dim() == 2 && x.size(1) == columns(), "expected [n, ", columns(), "], got ", x.sizes());
  const Tensor rest = x.to(torch::kFloat64) - centre_.to(x.device());
  return rest.mm(forward_.to(x.device())).to(dtype);
}

Tensor Basis::inverse(const Tensor& z, torch::ScalarType dtype) const {
  const at::NoGradGuard no_grad;
  check(z.dim() == 2 && z.size(1) == coordinates(), "expected [n, ", coordinates(), "], got ",
        z.sizes());
  const Tensor rest = z.to(torch::kFloat64).mm(inverse_.to(z.device()));
  return (rest + centre_.to(z.device())).to(dtype);
}

NamedTensors Basis::tensors() const {
  return {{"basis.centre", centre_},
          {"basis.forward", forward_},
          {"basis.inverse", inverse_},
          {"basis.mean0", moments_.mean0},
          {"basis.variance0", moments_.variance0},
          {"basis.mean1", moments_.mean1},
          {"basis.variance1", moments_.variance1}};
}

Basis Basis::load(const NamedTensors& tensors) {
  const auto get = [&](const char* name) {
    return at(tensors, text("basis.", name)).to(torch::kCPU, torch::kFloat64);
  };
  Basis basis;
  basis.centre_ = get("centre");
  basis.forward_ = get("forward");
  basis.inverse_ = get("inverse");
  basis.moments_ = {get("mean0"), get("variance0"), get("mean1"), get("variance1")};
  check_data(basis.forward_.dim() == 2, "the basis must be a matrix; the file is damaged");
  const int64_t d = basis.columns(), k = basis.coordinates();
  bool fits = basis.centre_.sizes() == torch::IntArrayRef{d} &&
              basis.inverse_.sizes() == torch::IntArrayRef({k, d});
  for (const char* name : {"mean0", "variance0", "mean1", "variance1"})
    fits = fits && get(name).sizes() == torch::IntArrayRef{k};
  check_data(fits, "the tensors of the basis do not fit together; the file is damaged");
  return basis;
}

}  // namespace dre
