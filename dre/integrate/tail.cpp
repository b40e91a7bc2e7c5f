#include "dre/integrate/tail.h"

#include <algorithm>
#include <limits>

namespace dre {
namespace {

/// Row j integrates f P_j (2j + 1) / 2: [count, nodes]. The polynomials come from the recurrence
/// (j + 1) P_{j+1} = (2j + 1) x P_j - j P_{j-1}.
Tensor legendre_rows(const Tensor& x, const Tensor& weights, int64_t count) {
  std::vector<Tensor> rows;
  Tensor before = torch::zeros_like(x), polynomial = torch::ones_like(x);
  for (int64_t j = 0; j < count; ++j) {
    rows.push_back((2 * j + 1) / 2.0 * weights * polynomial);
    const Tensor next = ((2 * j + 1) * x * polynomial - j * before) / (j + 1);
    before = polynomial;
    polynomial = next;
  }
  return torch::stack(rows);
}

}  // namespace

TailRule::TailRule(const std::vector<double>& nodes, const std::vector<double>& weights,
                   int64_t degree, const torch::TensorOptions& options) {
  const int64_t last = degree / 2;
  band_ = last < 4 ? 0 : std::max<int64_t>(2, (last + 1) / 4);
  const Tensor x = torch::tensor(nodes, torch::kFloat64);
  const Tensor w = torch::tensor(weights, torch::kFloat64);
  const Tensor series = legendre_rows(x, w, last + 1);
  const int64_t low = last / 2 + 1 - band_, high = last + 1 - band_;
  columns_ = torch::cat({w.unsqueeze(0), series.narrow(0, low, band_),
                         series.narrow(0, (low + high) / 2, band_), series.narrow(0, high, band_)})
                 .t()
                 .to(options);
}

TailRule::Sums TailRule::operator()(const Tensor& samples, const Tensor& half) const {
  const Tensor sums = samples.matmul(columns_);
  const Tensor absolute = half.abs() * samples.abs().matmul(columns_.select(1, 0));
  const Tensor value = half * sums.select(1, 0);
  if (band_ == 0) {
    const Tensor unknown = torch::full_like(value, std::numeric_limits<double>::infinity());
    return {value, absolute, unknown, unknown};
  }
  // A floor keeps 0 / 0 of an integrand without these bands at 0.
  const auto norm = [&](int64_t band) {
    const Tensor part = sums.narrow(1, 1 + band * band_, band_);
    return part.square().sum(1).sqrt().clamp_min(std::numeric_limits<double>::min());
  };
  const Tensor low = norm(0), middle = norm(1), high = norm(2);
  const Tensor decay = (high / low).clamp_max(1.0);
  const Tensor rough = torch::min(3 * decay, (1 + 8 * decay.square()) / (6 * band_));
  const Tensor smooth = torch::min(rough, 4 * decay.square());
  const Tensor factor =
      band_ < 4 ? rough : torch::where(high * low <= 1.3 * middle * middle, smooth, rough);
  const Tensor size = 2 * half.abs() * high;
  return {value, absolute, size * factor, size * smooth};
}

}  // namespace dre
