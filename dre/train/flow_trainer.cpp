#include "dre/train/flow_trainer.h"

#include <algorithm>

#include "dre/base/error.h"
#include "dre/base/names.h"
#include "dre/data/mnist.h"
#include "dre/train/swapped.h"
#include "dre/train/with_gradients.h"

namespace dre {
namespace {

bool are_pixels(const Tensor& x) { return x.scalar_type() == torch::kUInt8; }

TrainOptions options_with(int64_t steps, int64_t batch) {
  TrainOptions options;
  options.steps = steps;
  options.batch = batch;
  options.rate = 5e-4;
  options.beta2 = 0.999;
  options.average = 0.999;
  options.evaluate_every = 1000;
  options.patience = 0;
  return options;
}

/// Bits per dimension of each row: [n]. noise: [n, d], of which only pixels make use.
Tensor row_bits(const Density& density, const Tensor& x, const Tensor& noise) {
  if (are_pixels(x)) {
    const Logits logits = dequantise(x, noise);
    return bits_per_dimension(density.log_prob(logits.x), logits.log_determinant, x.size(1));
  }
  const Tensor log_prob = density.log_prob(x);
  return bits_per_dimension(log_prob, at::zeros_like(log_prob), x.size(1));
}

Tensor bits_in_blocks(const Density& density, const Tensor& x, at::Generator& generator,
                      int64_t block, Progress& progress) {
  const torch::NoGradGuard no_grad;
  check_rows(x, density.dimension());
  std::vector<Tensor> bits;
  int64_t done = 0;
  progress.begin("judging", x.size(0));
  for (const auto& rows : x.split(block)) {
    const Tensor noise =
        are_pixels(rows) ? uniform(rows.sizes(), density.options(), generator) : Tensor();
    bits.push_back(row_bits(density, rows, noise).to(torch::kCPU, torch::kFloat64));
    done += rows.size(0);
    progress.advance(done, text(done, " rows"));
    if (progress.stop_requested()) break;
  }
  progress.end();
  return at::cat(bits);
}

}  // namespace

TrainOptions flow_train_options(const std::string& recipe) {
  static const std::vector<Named<TrainOptions>> table = {
      {"copula", options_with(40000, 128)},
      {"rq-nsf", options_with(200000, 256)},
  };
  return choose("flow", table, recipe);
}

Tensor rows_on(const Tensor& x, const Context& context) {
  return are_pixels(x) ? x.to(context.device) : x.to(context.options());
}

Tensor flow_bits(const Density& density, const Tensor& x, at::Generator& generator, int64_t block) {
  Progress silent;
  return bits_in_blocks(density, x, generator, block, silent);
}

Tensor flow_bits(const Density& density, const Tensor& x, at::Generator& generator,
                 Progress& progress) {
  return bits_in_blocks(density, x, generator, x.is_cpu() ? 200 : 1000, progress);
}

void start_flow(Flow& flow, const FlowData& data, const Context& context) {
  // A start need not be perfect, but tables may be sorted: their rows are taken evenly.
  const int64_t count = std::min(data.train.size(0), flow.rows_to_start());
  const Tensor some =
      are_pixels(data.train)
          ? data.train.slice(0, 0, count)
          : data.train.index_select(0, systematic_rows({data.train, {}}, count, 0.5));
  const Tensor rows = rows_on(some, context);
  auto generator = context.device_generator("start noise");
  flow.initialise(are_pixels(rows) ? dequantise(rows, generator, context.dtype).x : rows);
}

FlowTrainer::FlowTrainer(Flow& flow, const FlowData& data, const TrainOptions& options,
                         const Context& context)
    : flow_(flow),
      options_(options),
      context_(context),
      train_(rows_on(data.train, context)),
      held_out_(rows_on(data.held_out, context)),
      batches_({train_, {}}, options.batch, context.generator("flow batches")),
      rows_(at::empty({0, options.batch}, torch::kInt64)),
      generator_(context.device_generator("flow noise")),
      adam_(options, flow.parameters().flat()),
      batch_(at::zeros({options.batch, flow.dimension()}, held_out_.options())),
      noise_(at::zeros({options.batch, flow.dimension()}, context.options())),
      loss_(at::zeros({}, context.options())),
      captured_([this] { work(); }, context.device, {}),
      best_(options, flow.parameters().flat()) {
  validate(options);
  check_rows(data.train, flow.dimension());
  check_rows(data.held_out, flow.dimension());
  check(are_pixels(data.train) == are_pixels(data.held_out),
        "rows to learn from and held-out rows must both be pixels, or both numbers");
}

TrainResult FlowTrainer::run(Progress& progress, const std::function<void()>& checkpoint) {
  const WithGradients gradients;
  const int64_t looks_between_checkpoints = 10;
  const auto begin = [&] { progress.begin("training " + flow_.name(), options_.steps); };
  const TrainResult& result = best_.result();
  bool stopped = false;
  begin();
  while (!stopped) {
    if (look_is_due()) {
      stopped = !look(progress);
      begin();
      if (stopped) break;
      if (checkpoint && result.curve.size() % looks_between_checkpoints == 0) checkpoint();
    }
    if (best_.over()) break;
    step();
    if (planned_ < rows_.size(0)) continue;  // in the middle of a plan the state is not whole
    progress.advance(result.steps, text("held-out ", result.curve.back().held_out, " bits"));
    stopped = result.steps < options_.steps && progress.stop_requested();
  }
  progress.end();
  best_.end(stopped);
  if (!stopped) use_best();
  return result;
}

bool FlowTrainer::look_is_due() const {
  const TrainResult& result = best_.result();
  if (result.curve.empty()) return true;
  return result.curve.back().step < result.steps &&
         (result.steps % options_.evaluate_every == 0 || result.steps >= options_.steps);
}

bool FlowTrainer::look(Progress& progress) {
  const TrainResult& result = best_.result();
  const int64_t since =
      result.steps - (result.curve.empty() ? result.steps : result.curve.back().step);
  if (!evaluate(loss_.item<double>() / static_cast<double>(since), progress)) return false;
  loss_.zero_();
  return true;
}

/// Rows and rates of the next steps go to the device at once: a transfer a step would make the host
/// wait for the device every time. Plans end at looks; states are taken where a plan ends, which on
/// the CPU, where nothing is to be gained, is every step.
void FlowTrainer::plan() {
  const int64_t steps = best_.result().steps;
  const int64_t to_look = options_.evaluate_every - steps % options_.evaluate_every;
  const int64_t most = context_.device.is_cpu() ? 1 : Adam::plan_capacity;
  const int64_t count = std::min({to_look, options_.steps - steps, most});
  std::vector<Tensor> rows;
  std::vector<double> rates;
  for (int64_t i = 0; i < count; ++i) {
    rows.push_back(batches_.next_rows());
    rates.push_back(learning_rate(options_, steps + i));
  }
  rows_ = at::stack(rows).to(context_.device);
  planned_ = 0;
  adam_.plan(rates);
}

void FlowTrainer::step() {
  if (planned_ == rows_.size(0)) plan();
  at::index_select_out(batch_, train_, 0, rows_[planned_++]);
  noise_.uniform_(0, 1, generator_);
  captured_.run();
  best_.count_step();
}

/// The part of a step that is recorded: everything between a batch and the new weights.
void FlowTrainer::work() {
  Tensor weights = flow_.parameters().flat(), gradient = flow_.parameters().flat_gradient();
  gradient.zero_();
  const Tensor loss = row_bits(flow_, batch_, noise_).mean();
  loss.backward();
  loss_.add_(loss.detach());
  adam_.apply(weights, gradient);
}

bool FlowTrainer::evaluate(double train_loss, Progress& progress) {
  const torch::NoGradGuard no_grad;
  const Swapped averaged(flow_.parameters().flat(), adam_.average());
  // The same noise at every look: differences between looks are then the weights' alone.
  auto generator = context_.device_generator("held-out noise");
  const Tensor bits = flow_bits(flow_, held_out_, generator, progress);
  if (bits.size(0) < held_out_.size(0)) return false;
  best_.look(train_loss, bits.mean().item<double>(), adam_.average());
  return true;
}

void FlowTrainer::use_best() {
  const torch::NoGradGuard no_grad;
  flow_.parameters().flat().copy_(best_.weights());
}

NamedTensors FlowTrainer::state() const {
  NamedTensors all = best_.state();
  all.emplace_back("loss", loss_.clone());
  all.emplace_back("generator", generator_.get_state());
  append(all, "flow", flow_.tensors());
  append(all, "adam", adam_.state());
  append(all, "batches", batches_.state());
  return all;
}

void FlowTrainer::restore(const NamedTensors& state) {
  const torch::NoGradGuard no_grad;
  flow_.load(under(state, "flow"));
  best_.restore(state);
  loss_.copy_(at(state, "loss"));
  restore_generator(generator_, at(state, "generator"));
  adam_.restore(under(state, "adam"));
  batches_.restore(under(state, "batches"));
}

}  // namespace dre
