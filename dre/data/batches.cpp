#include "dre/data/batches.h"

#include <algorithm>
#include <utility>

#include "dre/base/context.h"
#include "dre/base/error.h"

namespace dre {

Tensor systematic_rows(const Samples& samples, int64_t n, double offset) {
  check(n >= 1, "a resample needs at least 1 row, got ", n);
  check(offset >= 0 && offset < 1, "the offset must be at least 0 and less than 1, got ", offset);
  if (!samples.weight.defined() && n == samples.rows()) return torch::arange(n, torch::kInt64);
  const Tensor cumulated = samples.weights().cpu().cumsum(0);
  const Tensor total = cumulated.slice(0, -1);
  const Tensor points = (torch::arange(n, torch::kFloat64) + offset) * (total / n);
  // A point that rounding puts at the very end belongs to the last row that has weight.
  const int64_t last = at::searchsorted(cumulated, total).item<int64_t>();
  return at::searchsorted(cumulated, points, /*out_int32=*/false, /*right=*/true).clamp_max(last);
}

Batches::Batches(Samples samples, int64_t batch, at::Generator generator)
    : samples_(std::move(samples)),
      batch_(batch),
      generator_(std::move(generator)),
      order_(torch::empty({0}, torch::kInt64)) {
  check(batch >= 1, "a batch needs at least 1 row, got ", batch);
}

void Batches::start_epoch() {
  const int64_t n = samples_.rows();
  const Tensor shuffle = at::randperm(n, generator_, torch::kInt64);
  position_ = 0;
  if (!samples_.weight.defined()) {
    order_ = shuffle;
    return;
  }
  const double offset = uniform({1}, torch::kFloat64, generator_).item<double>();
  order_ = systematic_rows(samples_, n, offset).index_select(0, shuffle);
}

Tensor Batches::next_rows() {
  std::vector<Tensor> parts;
  for (int64_t missing = batch_; missing > 0;) {
    if (position_ == order_.size(0)) start_epoch();
    const int64_t count = std::min(missing, order_.size(0) - position_);
    parts.push_back(order_.narrow(0, position_, count));
    position_ += count;
    missing -= count;
  }
  return parts.size() == 1 ? parts.front().clone() : torch::cat(parts);
}

Tensor Batches::next() { return samples_.x.index_select(0, next_rows().to(samples_.x.device())); }

NamedTensors Batches::state() const {
  return {{"generator", generator_.get_state().clone()},
          {"order", order_.clone()},
          {"position", torch::full({1}, position_, torch::kInt64)}};
}

void Batches::restore(const NamedTensors& state) {
  const Tensor order = at(state, "order").to(torch::kCPU, torch::kInt64);
  const int64_t position = at(state, "position").item<int64_t>();
  const int64_t n = samples_.rows();
  const bool fits = order.dim() == 1 && (order.size(0) == n || order.size(0) == 0) &&
                    position >= 0 && position <= order.size(0);
  check_data(fits, "the saved order has ", order.numel(), " rows, the samples have ", n,
             "; resume with the data that the run was started with");
  check_data(
      order.numel() == 0 || (order.min().item<int64_t>() >= 0 && order.max().item<int64_t>() < n),
      "the saved order names rows that the samples do not have; the checkpoint is damaged");
  generator_.set_state(at(state, "generator"));
  order_ = order.clone();
  position_ = position;
}

}  // namespace dre
