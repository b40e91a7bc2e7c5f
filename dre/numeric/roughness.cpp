#include "dre/numeric/roughness.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "dre/base/error.h"
#include "dre/numeric/statistics.h"

namespace dre {
namespace {

/// Rows and those around them: [m] and [m, k], int64
struct Neighbours {
  Tensor row, around;
};

Neighbours neighbours_in_line(const Tensor& x) {
  const Tensor order = x.argsort(), windows = order.unfold(0, 5, 1);
  return {windows.select(1, 2), windows.index_select(1, torch::tensor({0, 1, 3, 4}))};
}

/// By ranks, as a column with heavy tails has no unit.
Neighbours neighbours_in_plane(const Tensor& x) {
  const Tensor place = torch::stack({ranks(x.select(1, 0)), ranks(x.select(1, 1))}, 1);
  Tensor distance = torch::cdist(place, place);
  distance.fill_diagonal_(std::numeric_limits<double>::infinity());
  return {torch::arange(x.size(0)), std::get<1>(distance.topk(12, 1, false, false))};
}

/// Products of at most three of the columns: u: [m, k, d] -> [m, k, terms]
Tensor cubic_terms(const Tensor& u) {
  const Tensor one = torch::ones_like(u.select(2, 0));
  std::vector<Tensor> terms;
  for (int total = 0; total <= 3; ++total)
    for (int first = 0; first <= total; ++first) {
      if (u.size(2) == 1 && first < total) continue;
      const Tensor second = u.size(2) == 1 ? one : u.select(2, 1).pow(total - first);
      terms.push_back(u.select(2, 0).pow(first) * second);
    }
  return torch::stack(terms, 2);
}

/// The cubic through the neighbours, at the row itself: [m, dy]
Tensor predicted(const Tensor& x, const Tensor& y, const Neighbours& of) {
  const auto gather = [&](const Tensor& z) {
    return z.index_select(0, of.around.reshape(-1)).view({of.around.size(0), -1, z.size(1)});
  };
  const Tensor step = gather(x) - x.index_select(0, of.row).unsqueeze(1);
  const Tensor reach = step.abs().amax(1, true);
  const Tensor unit = at::where(reach > 0, reach, torch::ones_like(reach));
  // Complete orthogonal factors: where values of x repeat, terms depend on each other.
  const Tensor fit =
      std::get<0>(torch::linalg_lstsq(cubic_terms(step / unit), gather(y), {}, "gelsy"));
  return fit.select(1, 0);
}

}  // namespace

Tensor roughness(const Tensor& x, const Tensor& y) {
  constexpr int64_t most = 2'000, fewest = 20;
  check(x.dim() == 2 && (x.size(1) == 1 || x.size(1) == 2), "x must have one column or two, got ",
        x.sizes());
  check(y.dim() == 2 && y.size(0) == x.size(0), "y must have the rows of x, got ", y.sizes());
  const double infinity = std::numeric_limits<double>::infinity();
  const int64_t n = x.size(0), used = std::min(n, most);
  if (n < fewest) return torch::full({y.size(1)}, infinity, torch::kFloat64);
  const Tensor which = (torch::arange(used) * n).floor_divide(used);
  const auto part = [&](const Tensor& z) {
    return z.detach().to(torch::kFloat64).index_select(0, which);
  };
  const Tensor some_x = part(x), some_y = part(y);
  const Neighbours of =
      x.size(1) == 1 ? neighbours_in_line(some_x.select(1, 0)) : neighbours_in_plane(some_x);
  const Tensor own = some_y.index_select(0, of.row);
  const Tensor all = torch::cat({of.row.unsqueeze(1), of.around}, 1);
  const Tensor around =
      some_y.index_select(0, all.reshape(-1)).view({all.size(0), all.size(1), -1});
  const Tensor range = around.amax(1) - around.amin(1);
  const Tensor share = (own - predicted(some_x, some_y, of)).abs() / range;
  const Tensor counts = range > 0;
  const Tensor median = std::get<0>(share.masked_fill(~counts, NAN).nanmedian(0));
  const int64_t needed = std::max(fewest, all.size(0) / 4);
  return median.masked_fill(counts.sum(0) < needed, infinity);
}

}  // namespace dre
