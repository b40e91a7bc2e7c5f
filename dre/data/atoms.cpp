#include "dre/data/atoms.h"

#include <ATen/core/grad_mode.h>

#include <algorithm>

#include "dre/base/context.h"
#include "dre/base/error.h"

namespace dre {
namespace {

constexpr double bump = 0.2;         // standard deviation, in distances to the nearest atom
constexpr int64_t looked_at = 4096;  // rows of a side that decide whether there are atoms
constexpr double distinct_share = 0.5;

/// Rows may be sorted: evenly spaced ones show the whole column.
Tensor some(const Tensor& x) {
  const int64_t step = std::max<int64_t>(1, x.size(0) / looked_at);
  return x.slice(0, 0, x.size(0), step);
}

Tensor distinct_values(const Tensor& x) {
  return std::get<0>(at::unique_consecutive(std::get<0>(x.sort())));
}

bool has_atoms(const Tensor& x) {
  const Tensor part = some(x);
  return static_cast<double>(distinct_values(part).size(0)) <=
         distinct_share * static_cast<double>(part.size(0));
}

Tensor widths(const Tensor& value) {
  if (value.size(0) == 1) return torch::zeros_like(value);
  const Tensor gap = value.diff();
  const Tensor first = gap.slice(0, 0, 1), last = gap.slice(0, gap.size(0) - 1, gap.size(0));
  return bump * torch::minimum(torch::cat({first, gap}), torch::cat({gap, last}));
}

}  // namespace

AtomNoise AtomNoise::fit(const Samples& numerator, const Samples& denominator) {
  const at::NoGradGuard no_grad;
  check(numerator.columns() == denominator.columns(), "the numerator has ", numerator.columns(),
        " columns, the denominator ", denominator.columns(), "; both need the same");
  AtomNoise noise;
  noise.all_columns_ = numerator.columns();
  for (int64_t place = 0; place < numerator.columns(); ++place) {
    const Tensor first = numerator.column(place), second = denominator.column(place);
    if (!has_atoms(first) || !has_atoms(second)) continue;
    const Tensor value = distinct_values(torch::cat({first, second}));
    noise.columns_.push_back({place, value, widths(value)});
  }
  return noise;
}

Samples AtomNoise::add(const Samples& samples, at::Generator& generator) const {
  if (!any()) return samples;
  const at::NoGradGuard no_grad;
  Samples out{samples.x.clone(), samples.weight};
  for (const auto& [place, value, width] : columns_) {
    const Tensor x = samples.column(place);
    const Tensor nearest = at::searchsorted(value, x).clamp_max(value.size(0) - 1);
    const Tensor noise =
        width.index_select(0, nearest) * normal(x.sizes(), torch::kFloat64, generator);
    out.x.select(1, place).add_(noise.to(out.x.options()));
  }
  return out;
}

}  // namespace dre
