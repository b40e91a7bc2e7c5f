#include "dre/train/trainer.h"

#include <algorithm>
#include <limits>

#include "dre/base/error.h"
#include "dre/train/swapped.h"
#include "dre/train/with_gradients.h"

namespace dre {
namespace {

/// Held-out rows without weights, as many as fit both sides, in the precision of the work.
Batch held_out_batch(const TrainData& data, const Context& context) {
  const int64_t n = std::max(data.held_out_numerator.rows(), data.held_out_denominator.rows());
  const auto rows = [&](const Samples& side, const char* stream) {
    auto generator = context.generator(stream);
    // A fixed shuffle couples the two sides at random; both are resampled to one length.
    const Tensor order = at::randperm(n, generator, torch::kInt64);
    return side.x.index_select(0, systematic_rows(side, n, 0.5).index_select(0, order))
        .to(context.dtype);
  };
  return {rows(data.held_out_numerator, "held-out numerator"),
          rows(data.held_out_denominator, "held-out denominator")};
}

/// The rows in the precision of the work, on its device where they take little of it; a larger
/// table stays on the host, and its batches travel.
Samples placed(const Samples& side, const Context& context) {
  constexpr size_t little = size_t{1} << 30;
  const Tensor x = side.x.to(context.dtype);
  return {x.nbytes() <= little ? x.to(context.device) : x, side.weight};
}

}  // namespace

Trainer::Trainer(const Objective& objective, Parameters& parameters, TimeSampler& times,
                 const TrainData& data, const TrainOptions& options, const Context& context)
    : objective_(objective),
      parameters_((parameters.flatten(), parameters)),
      times_(times),
      options_(options),
      context_(context),
      numerator_(placed(data.numerator, context), options.batch,
                 context.generator("numerator batches")),
      denominator_(placed(data.denominator, context), options.batch,
                   context.generator("denominator batches")),
      held_out_(held_out_batch(data, context)),
      generator_(context.device_generator("noise")),
      time_generator_(context.generator("times")),
      adam_(options, parameters.flat()),
      best_(options, parameters.flat()) {
  validate(options);
}

TrainResult Trainer::run(Progress& progress, const std::function<void()>& checkpoint) {
  const WithGradients gradients;
  const int64_t looks_between_checkpoints = 12;
  progress.begin("training", options_.steps);
  const TrainResult& result = best_.result();
  if (result.curve.empty()) evaluate(std::numeric_limits<double>::quiet_NaN());
  bool stopped = false;
  Tensor train_loss = torch::zeros({}, context_.options());
  while (!best_.over() && !stopped) {
    train_loss += step();
    best_.count_step();
    const int64_t since = (result.steps - 1) % options_.evaluate_every + 1;
    if (since < options_.evaluate_every && result.steps < options_.steps) continue;
    evaluate(train_loss.item<double>() / static_cast<double>(since));
    train_loss.zero_();
    progress.advance(result.steps, text("held-out ", result.curve.back().held_out));
    // Stops are made between looks, where no loss is half summed up, so that a resumed run is the
    // same run. A run that is over anyway is not interrupted.
    stopped = !best_.over() && progress.stop_requested();
    if (checkpoint && result.curve.size() % looks_between_checkpoints == 0) checkpoint();
  }
  progress.end();
  best_.end(stopped);
  if (stopped) return result;
  torch::NoGradGuard no_grad;
  parameters_.flat().copy_(best_.weights());
  return result_with_gain();
}

Tensor Trainer::step() {
  const Batch batch = next_batch();
  Times times = times_.draw(options_.batch, batch.x0.options(), time_generator_);
  const auto [from, to] = objective_.interval();
  const Tensor t = from + (to - from) * times.t;
  parameters_.zero_gradient();
  const Terms terms = objective_.terms(batch, t, generator_);
  Tensor loss = torch::zeros({}, batch.x0.options());
  if (terms.at_time.defined()) loss = loss + (times.weight * terms.at_time).mean();
  if (terms.free.defined()) {
    const bool per_row = terms.free.size(0) == options_.batch;
    loss = loss + (per_row ? times.boundary_weight * terms.free : terms.free).mean();
  }
  loss.backward();
  if (terms.at_time.defined()) times_.observe(times, terms.at_time.detach());
  Tensor weights = parameters_.flat(), gradient = parameters_.flat_gradient();
  adam_.step(weights, gradient);
  return loss.detach();
}

Batch Trainer::next_batch() {
  return {numerator_.next().to(context_.device), denominator_.next().to(context_.device)};
}

void Trainer::evaluate(double train_loss) {
  const Tensor losses = held_out_losses();
  if (best_.result().curve.empty()) first_losses_ = losses;
  if (best_.look(train_loss, losses.mean().item<double>(), adam_.average())) best_losses_ = losses;
}

Tensor Trainer::held_out_losses() {
  torch::NoGradGuard no_grad;
  const Swapped averaged(parameters_.flat(), adam_.average());
  // The same noise, directions and times at every look: differences between looks are then the
  // weights' alone.
  auto generator = context_.device_generator("held-out noise");
  const int64_t n = held_out_.x0.size(0), chunk = std::max<int64_t>(options_.batch, 4096);
  const Interval range = objective_.interval();
  std::vector<Tensor> losses;
  for (int64_t start = 0, rows = 0; start < n; start += rows) {
    // A small rest joins the piece before it: some objectives need rows for each of their times.
    rows = n - start < chunk + chunk / 8 ? n - start : chunk;
    const auto part = [&](const Tensor& x) {
      return x.slice(0, start, start + rows).to(context_.device);
    };
    // Golden-ratio times fill the interval evenly whatever the number of rows.
    const Tensor index =
        torch::arange(start, start + rows, torch::kFloat64).add_(0.5).mul_(0.6180339887498949);
    const Tensor t = range.from + range.length() * (index - index.floor());
    const Terms terms = objective_.terms({part(held_out_.x0), part(held_out_.x1)},
                                         t.unsqueeze(1).to(context_.options()), generator);
    losses.push_back(row_losses(terms).to(torch::kCPU, torch::kFloat64));
  }
  return torch::cat(losses);
}

TrainResult Trainer::result_with_gain() const {
  TrainResult result = best_.result();
  result.gain = mean_of(first_losses_ - best_losses_);
  return result;
}

NamedTensors Trainer::state() const {
  NamedTensors all = best_.state();
  all.emplace_back("weights", parameters_.flat().detach().clone());
  all.emplace_back("first_losses", first_losses_);
  all.emplace_back("best_losses", best_losses_);
  all.emplace_back("generator", generator_.get_state());
  all.emplace_back("time_generator", time_generator_.get_state());
  append(all, "adam", adam_.state());
  append(all, "numerator", numerator_.state());
  append(all, "denominator", denominator_.state());
  append(all, "times", times_.state());
  return all;
}

void Trainer::restore(const NamedTensors& state) {
  torch::NoGradGuard no_grad;
  parameters_.restore(at(state, "weights"));
  best_.restore(state);
  first_losses_ = at(state, "first_losses");
  best_losses_ = at(state, "best_losses");
  restore_generator(generator_, at(state, "generator"));
  restore_generator(time_generator_, at(state, "time_generator"));
  adam_.restore(under(state, "adam"));
  numerator_.restore(under(state, "numerator"));
  denominator_.restore(under(state, "denominator"));
  times_.restore(under(state, "times"));
}

}  // namespace dre
