#include "dre/times/history.h"

#include <vector>

#include "dre/base/error.h"
#include "dre/times/density.h"
#include "dre/times/strata.h"

namespace dre {

void LossHistory::add(const Tensor& t, const Tensor& losses) {
  const Tensor times = t.detach().to(torch::kCPU, torch::kFloat64);
  const Tensor values = losses.detach().to(torch::kCPU, torch::kFloat64);
  check(values.dim() == 1 && times.dim() == 1 && times.size(0) == values.size(0),
        "there must be one loss for each time, got ", values.sizes(), " for ", times.sizes());
  if (!values.isfinite().all().item<bool>()) return;
  if (!batches_.empty() && batches_.front().t.size(0) != times.size(0)) batches_.clear();
  const auto [sorted, order] = times.sort();
  batches_.push_back({sorted, values.index_select(0, order)});
  if (static_cast<int64_t>(batches_.size()) > options_.history) batches_.pop_front();
  fit();
}

void LossHistory::fit() {
  curve_.reset();
  if (static_cast<int64_t>(batches_.size()) < options_.history) return;
  Tensor t = torch::zeros_like(batches_.front().t), square = torch::zeros_like(t);
  for (const Batch& batch : batches_) {
    t += batch.t;
    square += batch.losses.square();
  }
  const Tensor size = square.sqrt();
  const double mean = size.mean().item<double>();
  if (!(mean > 0)) return;
  curve_ = fit_ridge(t / static_cast<double>(options_.history), size / mean, options_.degree,
                     options_.penalty);
}

NamedTensors LossHistory::state() const {
  if (batches_.empty()) return {};
  std::vector<Tensor> t, losses;
  for (const Batch& batch : batches_) {
    t.push_back(batch.t);
    losses.push_back(batch.losses);
  }
  return {{"t", torch::stack(t)}, {"losses", torch::stack(losses)}};
}

void LossHistory::restore(const NamedTensors& state) {
  batches_.clear();
  curve_.reset();
  if (state.empty()) return;
  const Tensor t = at(state, "t"), losses = at(state, "losses");
  check_data(t.dim() == 2 && t.sizes() == losses.sizes(),
             "the state of a loss history must hold t and losses of the same shape; it is damaged");
  check_data(t.size(0) <= options_.history, "the state holds ", t.size(0),
             " batches, but history is ", options_.history, "; resume with the options it had");
  for (int64_t i = 0; i < t.size(0); ++i)
    batches_.push_back({t[i].to(torch::kCPU, torch::kFloat64).clone(),
                        losses[i].to(torch::kCPU, torch::kFloat64).clone()});
  fit();
}

namespace {

/// Common to both uses of the history; what differs is how a batch is drawn.
class FromHistory : public TimeSampler {
 public:
  explicit FromHistory(const TimeOptions& options) : options_(options), history_(options) {}

  void observe(const Times& times, const Tensor& losses) override {
    history_.add(times.t.reshape({-1}), losses);
  }
  NamedTensors state() const override { return history_.state(); }
  void restore(const NamedTensors& state) override { history_.restore(state); }

 protected:
  double low() const { return options_.clip; }
  double high() const { return 1 - options_.clip; }

  const TimeOptions options_;
  LossHistory history_;
};

class History final : public FromHistory {
 public:
  using FromHistory::FromHistory;

  Times draw(int64_t n, const torch::TensorOptions& options, at::Generator& generator) override {
    const TabulatedDensity density = proposal();
    const Tensor t = density.inverse_cdf(stratified(n, generator));
    return as_times(t, 1 / density(t), torch::ones_like(t), low(), high(), options);
  }

 private:
  /// (1 - floor) |curve| / ∫|curve| + floor * uniform; uniform as long as there is no curve.
  TabulatedDensity proposal() const {
    constexpr int64_t nodes = 257;
    const Tensor t = torch::linspace(low(), high(), nodes, torch::kFloat64);
    const Tensor flat = torch::ones_like(t);
    if (!history_.curve()) return {flat, low(), high()};
    const Tensor height = (*history_.curve())(t).abs();
    const double mean =
        (height.narrow(0, 0, nodes - 1) + height.narrow(0, 1, nodes - 1)).mean().item<double>() / 2;
    if (!(mean > 0)) return {flat, low(), high()};
    return {(1 - options_.floor) * height / mean + options_.floor * flat, low(), high()};
  }
};

class HistoryMultiplicative final : public FromHistory {
 public:
  using FromHistory::FromHistory;

  Times draw(int64_t n, const torch::TensorOptions& options, at::Generator& generator) override {
    const Tensor t = low() + (high() - low()) * independent(n, generator);
    const Tensor curve = history_.curve() ? (*history_.curve())(t).abs() : torch::ones_like(t);
    return as_times(t, (high() - low()) * curve, curve, low(), high(), options);
  }
};

}  // namespace

std::unique_ptr<TimeSampler> make_history(const TimeOptions& options) {
  return std::make_unique<History>(options);
}

std::unique_ptr<TimeSampler> make_history_multiplicative(const TimeOptions& options) {
  return std::make_unique<HistoryMultiplicative>(options);
}

}  // namespace dre
