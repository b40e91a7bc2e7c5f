#include "dre/data/split.h"

#include <algorithm>
#include <cmath>

#include "dre/base/context.h"
#include "dre/base/error.h"

namespace dre {
namespace {

/// Rows in random order, and then, where they have weights, in order of weight.
Tensor strata(const Samples& samples, at::Generator& generator) {
  const Tensor order = at::randperm(samples.rows(), generator, torch::kInt64);
  if (!samples.weight.defined()) return order;
  const Tensor weight = samples.weight.cpu().index_select(0, order);
  return order.index_select(0, weight.argsort());
}

Samples part(const Samples& samples, const Tensor& rows, const char* name) {
  if (samples.weight.defined()) {
    const Tensor weight = samples.weight.index_select(0, rows.to(samples.x.device()));
    check_data(weight.max().item<double>() > 0, "all rows of the ", name,
               " part have weight 0; there are too few rows with positive weight to split");
  }
  return samples.take(rows);
}

}  // namespace

Split split(const Samples& samples, double held_out_share, at::Generator& generator) {
  check(held_out_share > 0 && held_out_share < 1,
        "the held-out share must lie between 0 and 1, got ", held_out_share);
  const int64_t n = samples.rows();
  check_data(n >= 2, "cannot hold out rows of a table with ", n, " row; at least 2 are needed");
  const int64_t held_out = std::clamp<int64_t>(std::llround(held_out_share * n), 1, n - 1);

  // Every (n / held_out)-th row of the strata from a random start.
  const double start = uniform({1}, torch::kFloat64, generator).item<double>();
  const Tensor place = ((torch::arange(held_out, torch::kFloat64) + start) *
                        (static_cast<double>(n) / static_cast<double>(held_out)))
                           .floor()
                           .to(torch::kInt64)
                           .clamp_max(n - 1);
  Tensor chosen = torch::zeros({n}, torch::kBool);
  chosen.index_fill_(0, strata(samples, generator).index_select(0, place), true);

  Split result;
  result.train_rows = chosen.logical_not().nonzero().squeeze(1);
  result.held_out_rows = chosen.nonzero().squeeze(1);
  result.train = part(samples, result.train_rows, "training");
  result.held_out = part(samples, result.held_out_rows, "held-out");
  return result;
}

}  // namespace dre
