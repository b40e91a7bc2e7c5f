#include "dre/objective/classification.h"

#include <algorithm>
#include <cmath>

#include "dre/base/error.h"

namespace dre {
namespace {

/// -log sigmoid(logit): the logistic loss of a row that belongs to the class with this logit.
Tensor logistic(const Tensor& logit) { return torch::softplus(-logit); }

/// Rows of a batch dealt out to K classes in order; the first and the last class get double shares.
struct Shares {
  Tensor label;         ///< [n], int64
  Tensor log_share;     ///< [K]
  int64_t first, last;  ///< rows of the two ends
};

Shares deal(int64_t n, int64_t classes, const torch::TensorOptions& options) {
  check(n >= classes + 2, "a batch of ", n, " rows is too small for ", classes,
        " times; use at least ", classes + 2);
  std::vector<int64_t> counts(classes, n / (classes + 2));
  counts.back() *= 2;
  counts.front() = n;
  for (int64_t k = 1; k < classes; ++k) counts.front() -= counts[k];
  const Tensor count = torch::tensor(counts, torch::kInt64);
  const Tensor label = torch::repeat_interleave(torch::arange(classes), count);
  const Tensor log_share = (count.to(torch::kFloat64) / static_cast<double>(n)).log();
  return {label.to(options.device()), log_share.to(options), counts.front(), counts.back()};
}

/// Cross-entropy over the classes, plus the logistic loss of the two ends scaled to a mean over
/// their own rows.
Tensor which_time_loss(const Tensor& logits, const Shares& shares) {
  const int64_t n = logits.size(0);
  const Tensor log_posterior = torch::log_softmax(logits + shares.log_share, 1);
  const Tensor cross_entropy = -log_posterior.gather(1, shares.label.unsqueeze(1)).squeeze(1);
  const Tensor ratio = logits.select(1, 0) - logits.select(1, -1);
  const double half = 0.5 * static_cast<double>(n);
  const Tensor first =
      logistic(ratio.slice(0, 0, shares.first)) * (half / static_cast<double>(shares.first));
  const Tensor last =
      logistic(-ratio.slice(0, n - shares.last)) * (half / static_cast<double>(shares.last));
  const Tensor middle = torch::zeros({n - shares.first - shares.last}, logits.options());
  return cross_entropy + torch::cat({first, middle, last});
}

}  // namespace

Terms NceObjective::terms(const Batch& batch, const Tensor&, at::Generator&) const {
  const Tensor x = torch::cat({batch.x0, batch.x1});
  Tensor logit = score_.ratio_residual(x);
  if (score_.reference()) logit = logit + score_.reference()->log_ratio(x).to(x.scalar_type());
  const int64_t n = batch.x0.size(0);
  return {{}, logistic(logit.slice(0, 0, n)) + logistic(-logit.slice(0, n))};
}

Terms TelescopeObjective::terms(const Batch& batch, const Tensor&, at::Generator& generator) const {
  const int64_t waymarks = score_.times().size(0), d = score_.dimension();
  const int64_t n = std::max<int64_t>(1, 2 * batch.x0.size(0) / waymarks);
  const auto spread = [&](const Tensor& x) {
    return x.slice(0, 0, n).unsqueeze(0).expand({waymarks, n, d}).reshape({waymarks * n, d});
  };
  const Tensor t = score_.times().to(batch.x0.options()).repeat_interleave(n).unsqueeze(1);
  const Tensor x = draw_point(score_.bridge(), spread(batch.x0), spread(batch.x1), t, generator).x;
  const Tensor logits = score_.logits(x).view({waymarks, n, waymarks - 1});
  // Logit k is asked at waymark k, where it should be high, and at waymark k + 1, where it should
  // be low.
  const Tensor own = torch::diagonal(logits.slice(0, 0, -1), 0, 0, 2);
  const Tensor next = torch::diagonal(logits.slice(0, 1), 0, 0, 2);
  return {{}, (logistic(own) + logistic(-next)).mean(1)};
}

Terms WhichTimeObjective::terms(const Batch& batch, const Tensor&, at::Generator& generator) const {
  const Shares shares = deal(batch.x0.size(0), score_.times().size(0), batch.x0.options());
  const Tensor times = score_.times().to(batch.x0.options());
  const Tensor t = times.index_select(0, shares.label).unsqueeze(1);
  const Tensor x = draw_point(score_.bridge(), batch.x0, batch.x1, t, generator).x;
  return {{}, which_time_loss(score_.logits(x), shares)};
}

ContinuousWhichTimeObjective::ContinuousWhichTimeObjective(const ContinuousWhichTimeScore& score,
                                                           int64_t count)
    : score_(score), count_(count) {
  check(count >= 3, "the continuous which-time objective needs at least 3 times, got ", count);
}

Terms ContinuousWhichTimeObjective::terms(const Batch& batch, const Tensor&,
                                          at::Generator& generator) const {
  const Shares shares = deal(batch.x0.size(0), count_, batch.x0.options());
  const auto [from, to] = interval();
  const int64_t inner = count_ - 2;
  const Tensor cell = torch::arange(inner, batch.x0.options());
  const Tensor unit =
      (cell + uniform({inner}, batch.x0.options(), generator)) / static_cast<double>(inner);
  const Tensor ends = torch::tensor({from, to}, torch::kFloat64).to(batch.x0.options());
  const Tensor times =
      torch::cat({ends.slice(0, 0, 1), from + (to - from) * unit, ends.slice(0, 1)});
  const Tensor t = times.index_select(0, shares.label).unsqueeze(1);
  const Tensor x = draw_point(score_.bridge(), batch.x0, batch.x1, t, generator).x;
  return {{}, which_time_loss(score_.logits(x, times), shares)};
}

InfinitesimalObjective::InfinitesimalObjective(const TimeScore& score, double step)
    : score_(score), step_(step) {
  check(step > 0 && step < score.bridge().interval().length(),
        "the time step must lie inside the bridge, got ", step);
}

Interval InfinitesimalObjective::interval() const {
  const auto [from, to] = score_.bridge().interval();
  return {from, to - step_};
}

Terms InfinitesimalObjective::terms(const Batch& batch, const Tensor& t,
                                    at::Generator& generator) const {
  const BridgePoint before = draw_point(score_.bridge(), batch.x0, batch.x1, t, generator);
  const BridgePoint after = point_at(score_.bridge(), batch.x0, batch.x1, before.noise, t + step_);
  const Tensor middle = t + step_ / 2;
  const Tensor logit =
      step_ *
      score_.time_score(torch::cat({before.x, after.x}), torch::cat({middle, middle})).value;
  const int64_t n = t.size(0);
  const Tensor loss =
      logistic(-logit.slice(0, 0, n)) + logistic(logit.slice(0, n)) - 2 * std::log(2);
  return {loss / (step_ * step_), {}};
}

}  // namespace dre
