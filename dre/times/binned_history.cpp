#include "dre/times/binned_history.h"

namespace dre {
namespace {

constexpr int64_t bins = 32;
constexpr double fade = 0.99;  // a batch: about the last hundred count
constexpr double least = 0.1;  // of the density

}  // namespace

BinnedHistory::BinnedHistory(double from, double to, const torch::TensorOptions& options)
    : from_(from),
      to_(to),
      squares_(torch::ones({bins}, options)),
      counts_(torch::ones({bins}, options)) {}

Tensor BinnedHistory::density() const {
  const Tensor size = (squares_ / counts_).sqrt();
  return (1 - least) * size / size.mean() + least;
}

BinnedHistory::Draw BinnedHistory::draw(int64_t n, at::Generator& generator) const {
  const torch::NoGradGuard no_grad;
  const Tensor share = density() / bins, upper = share.cumsum(0);
  const Tensor place = at::arange(n, share.options());
  const Tensor u = (place + uniform({n}, share.options(), generator)) / n;
  const Tensor bin = at::searchsorted(upper, u).clamp_max(bins - 1);
  const Tensor inside = share.index_select(0, bin);
  const Tensor part = 1 - (upper.index_select(0, bin) - u) / inside;
  const Tensor t = from_ + (to_ - from_) / bins * (bin + part.clamp(0, 1));
  return {t.unsqueeze(1), 1 / (bins * inside)};
}

void BinnedHistory::observe(const Tensor& t, const Tensor& losses) {
  const torch::NoGradGuard no_grad;
  const Tensor bin = ((t.squeeze(1) - from_) * (bins / (to_ - from_))).floor().clamp(0, bins - 1);
  // A product with ones and zeros adds up in the same order every time, which scattering does not.
  const Tensor is_in =
      (bin.unsqueeze(0) == at::arange(bins, bin.options()).unsqueeze(1)).to(losses.scalar_type());
  squares_.mul_(fade).add_(is_in.matmul(losses.square()));
  counts_.mul_(fade).add_(is_in.sum(1));
}

void BinnedHistory::restore(const NamedTensors& state) {
  const torch::NoGradGuard no_grad;
  squares_.copy_(at(state, "squares"));
  counts_.copy_(at(state, "counts"));
}

}  // namespace dre
