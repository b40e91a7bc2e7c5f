#include "dre/energy/fit.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>

#include "dre/base/error.h"
#include "dre/data/mnist.h"
#include "dre/energy/anneal.h"
#include "dre/energy/flow.h"
#include "dre/energy/log_ratio.h"
#include "dre/energy/noise_points.h"
#include "dre/objective/velocity.h"
#include "dre/times/binned_history.h"
#include "dre/train/adam.h"
#include "dre/train/captured_step.h"
#include "dre/train/swapped.h"
#include "dre/train/with_gradients.h"

namespace dre {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int64_t steps_between_renewals = 50;  // of a block of the noise model's images

std::unique_ptr<Objective> energy_objective(const EnergyModel& model, const std::string& matching) {
  const std::string& name = model.options().objective;
  if (const auto* score = dynamic_cast<const OneSidedVelocityScore*>(&model.score()))
    return std::make_unique<OneSidedVelocityObjective>(*score);
  ObjectiveOptions options;
  options.matching = matching;
  options.data_term = "denoising";  // the bridge's own noise is a better guide than a random slice
  // In either space the data have about the moments of the noise, and about those of N(0, I).
  return make_objective(name, model.score(), model.bridge(), {1, 0, 1}, options);
}

class EnergyTrainer {
 public:
  EnergyTrainer(EnergyModel& model, const EnergyData& data, const EnergyFitOptions& options)
      : model_(model),
        options_(options),
        context_(model.context()),
        train_(data.train.to(context_.device)),
        validation_(data.validation.to(context_.device)),
        objective_(energy_objective(model, options.matching)),
        angles_(model.angles(), context_.options()),
        history_(objective_->interval().from, objective_->interval().to, context_.options()),
        weights_(model.network().parameters().flat()),
        gradient_(model.network().parameters().flat_gradient()),
        adam_(options.train, weights_),
        generator_(context_.device_generator("training")),
        noise_(model.space(), options.train.batch, context_),
        loss_(torch::zeros({}, context_.options())) {}

  EnergyFitResult run(Progress& progress, const EnergyFitCalls& calls);

 private:
  void step();
  Batch draw_batch();
  BinnedHistory::Draw draw_times();
  void run_steps(CapturedStep& captured, int64_t count);
  double rate_at(int64_t step) const;
  double share_of_budget() const;
  double seconds() const;
  int64_t steps_of_a_round() const;
  bool look(Progress& progress);
  std::optional<Tensor> look_images(const EnergyEvaluateOptions& options, at::Generator& generator,
                                    Progress& progress);
  NamedTensors state() const;
  void restore(const NamedTensors& state);
  bool finish(Progress& progress);

  EnergyModel& model_;
  EnergyFitOptions options_;
  Context context_;
  Tensor train_, validation_;
  std::unique_ptr<Objective> objective_;
  AngleSampler angles_;
  BinnedHistory history_;
  Tensor weights_, gradient_;
  Adam adam_;
  at::Generator generator_;
  NoisePoints noise_;
  Tensor loss_;  // sum over the steps since it was last read
  double loss_since_look_ = 0;
  int64_t steps_since_look_ = 0;
  EnergyFitResult result_;
  double seconds_before_ = 0;
  double looking_ = 0;  // seconds spent on looks
  Clock::time_point start_ = Clock::now();
};

Batch EnergyTrainer::draw_batch() {
  const torch::NoGradGuard no_grad;
  const int64_t batch = options_.train.batch;
  const Tensor rows =
      at::randint(train_.size(0), {batch}, generator_, train_.options().dtype(torch::kInt64));
  const Logits logits = dequantise(train_.index_select(0, rows), generator_, context_.dtype);
  return {model_.space().enter(logits.x).point, noise_.draw(batch, generator_)};
}

/// Weights only where times are drawn by their history.
BinnedHistory::Draw EnergyTrainer::draw_times() {
  const int64_t batch = options_.train.batch;
  if (options_.times == "history") return history_.draw(batch, generator_);
  if (model_.options().objective == "velocity") return {angles_.draw(batch, generator_), {}};
  const Tensor place = at::arange(batch, context_.options());
  const Tensor u = place.add_(uniform({batch}, context_.options(), generator_)).div_(batch);
  const auto [from, to] = objective_->interval();
  return {u.mul_(to - from).add_(from).clamp_(from, to).unsqueeze(1), {}};
}

void EnergyTrainer::step() {
  const Batch batch = draw_batch();
  const BinnedHistory::Draw times = draw_times();
  const Terms terms = objective_->terms(batch, times.t, generator_);
  Tensor loss = torch::zeros({}, context_.options());
  if (times.weight.defined()) {
    loss = loss + (times.weight * terms.at_time).mean();
    history_.observe(times.t, terms.at_time.detach());
  } else if (terms.at_time.defined()) {
    loss = loss + terms.at_time.mean();
  }
  if (terms.free.defined()) loss = loss + terms.free.mean();
  gradient_.zero_();
  loss.backward();
  adam_.apply(weights_, gradient_);
  loss_.add_(loss.detach());
}

double EnergyTrainer::seconds() const {
  return seconds_before_ + std::chrono::duration<double>(Clock::now() - start_).count();
}

double EnergyTrainer::share_of_budget() const {
  const double steps =
      static_cast<double>(result_.steps) / static_cast<double>(options_.train.steps);
  return options_.minutes > 0 ? std::max(steps, seconds() / (60 * options_.minutes)) : steps;
}

/// The schedule runs by whichever is used up first, steps or minutes.
double EnergyTrainer::rate_at(int64_t step) const {
  const auto due =
      static_cast<int64_t>(share_of_budget() * static_cast<double>(options_.train.steps));
  return learning_rate(options_.train, step < options_.train.warmup ? step : std::max(step, due));
}

void EnergyTrainer::run_steps(CapturedStep& captured, int64_t count) {
  std::vector<double> rates;
  for (int64_t i = 0; i < count; ++i) rates.push_back(rate_at(result_.steps + i));
  adam_.plan(rates);
  for (int64_t i = 0; i < count; ++i) captured.run();
  result_.steps += count;
  if (result_.steps % steps_between_renewals == 0) noise_.renew();
}

/// The host sends off some steps before it waits for the device and listens to the user.
int64_t EnergyTrainer::steps_of_a_round() const {
  const int64_t every = options_.train.evaluate_every;
  const int64_t at_once = context_.device.is_cpu() ? 1 : steps_between_renewals;
  return std::min({at_once - result_.steps % at_once, options_.train.steps - result_.steps,
                   every - result_.steps % every});
}

/// Images of the model as it is, undefined where none are to be drawn; nothing where a stop was
/// asked for.
std::optional<Tensor> EnergyTrainer::look_images(const EnergyEvaluateOptions& options,
                                                 at::Generator& generator, Progress& progress) {
  const int64_t count = options_.look_samples;
  std::optional<Tensor> points;
  if (has_flow(model_)) {
    points = flow_samples(model_, count, options.flow_steps, generator, progress);
  } else if (options_.look_anneal_steps == 0) {
    return Tensor();
  } else {
    // A look shows where training stands: cheaper chains than those that measure do.
    EnergyAnnealOptions anneal;
    anneal.steps = options_.look_anneal_steps;
    anneal.leapfrogs = 5;
    anneal.pilot_steps = std::max<int64_t>(1, anneal.steps / 10);
    const auto drawn = annealed_samples(model_, count, options, anneal, generator, progress);
    if (drawn.finished) points = drawn.points;
  }
  if (!points) return std::nullopt;
  return energy_pixels(model_, *points);
}

/// False where a stop was asked for; a run that goes on then looks first.
bool EnergyTrainer::look(Progress& progress) {
  const torch::NoGradGuard no_grad;
  const Swapped averaged(weights_, adam_.average());
  EnergyEvaluateOptions options = options_.looks;
  options.half = options_.half;
  options.rows_at_once = rows_together(model_, options.rows_at_once);
  auto generator = context_.device_generator("looks");  // the same noise at every look
  const double now = seconds(), loss = loss_since_look_ / static_cast<double>(steps_since_look_);
  EnergyLook out{result_.steps, now, now - looking_, rate_at(result_.steps), loss, {}, {}};
  out.report = evaluate_energy(model_, validation_, options, generator, progress);
  bool finished = out.report.finished;
  if (finished) {
    const auto images = look_images(options, generator, progress);
    finished = images.has_value();
    out.samples = images.value_or(Tensor());
  }
  looking_ += seconds() - now;
  if (!finished) return false;
  result_.looks.push_back(std::move(out));
  loss_since_look_ = 0, steps_since_look_ = 0;
  return true;
}

NamedTensors EnergyTrainer::state() const {
  NamedTensors all = {{"weights", weights_.detach().clone().cpu()},
                      {"generator", generator_.get_state()},
                      {"steps", torch::tensor(result_.steps)},
                      {"loss_since_look", torch::tensor(loss_since_look_, torch::kFloat64)},
                      {"steps_since_look", torch::tensor(steps_since_look_)},
                      {"seconds", torch::tensor({seconds(), looking_}, torch::kFloat64)}};
  if (model_.space().between_images())
    all.emplace_back("oldest_noise", torch::tensor(noise_.oldest()));
  if (options_.times == "history") {
    NamedTensors history = history_.state();
    for (auto& [name, tensor] : history) tensor = tensor.cpu();
    append(all, "times", history);
  }
  NamedTensors adam = adam_.state();
  for (auto& [name, tensor] : adam) tensor = tensor.cpu();
  append(all, "adam", adam);
  return all;
}

void EnergyTrainer::restore(const NamedTensors& state) {
  const torch::NoGradGuard no_grad;
  model_.network().parameters().restore(at(state, "weights"));
  restore_generator(generator_, at(state, "generator"));
  adam_.restore(under(state, "adam"));
  if (options_.times == "history") history_.restore(under(state, "times"));
  result_.steps = at(state, "steps").item<int64_t>();
  loss_since_look_ = at(state, "loss_since_look").item<double>();
  steps_since_look_ = at(state, "steps_since_look").item<int64_t>();
  if (model_.space().between_images()) noise_.begin_at(at(state, "oldest_noise").item<int64_t>());
  seconds_before_ = at(state, "seconds")[0].item<double>();
  looking_ = at(state, "seconds")[1].item<double>();
}

/// The averaged weights, and the correction they need. False where a stop was asked for.
bool EnergyTrainer::finish(Progress& progress) {
  const torch::NoGradGuard no_grad;
  weights_.copy_(adam_.average());
  model_.network().set_half(false);
  auto generator = context_.device_generator("correction");
  const int64_t rows = std::min<int64_t>(validation_.size(0), 4 * options_.looks.rows);
  const Tensor x = dequantise(validation_, generator, context_.dtype).x.slice(0, 0, rows);
  std::vector<Tensor> y;
  for (const Tensor& some : x.split(rows_together(model_, rows))) {
    if (progress.stop_requested()) return false;
    y.push_back(model_.space().enter(some).point);
  }
  const auto found = zero_mean_correction(model_, at::cat(y), options_.looks, generator, progress);
  model_.correction = found.value_or(Measured{});
  return found.has_value();
}

EnergyFitResult EnergyTrainer::run(Progress& progress, const EnergyFitCalls& calls) {
  const WithGradients gradients;
  if (!calls.resume.empty()) restore(calls.resume);
  model_.network().set_half(options_.half);
  CapturedStep captured([this] { step(); }, context_.device, {generator_}, options_.graph);
  const auto begin = [&] { progress.begin("training", options_.train.steps); };
  begin();
  while (result_.finite && !result_.interrupted) {
    const bool spent = share_of_budget() >= 1;
    if (steps_since_look_ > 0 && (spent || result_.steps % options_.train.evaluate_every == 0)) {
      result_.interrupted = !look(progress);
      begin();
      if (!result_.interrupted && calls.look) calls.look(result_.looks.back());
      if (calls.save) calls.save(state());
    }
    if (spent || result_.interrupted) break;
    const int64_t count = steps_of_a_round();
    run_steps(captured, count);
    const double sum = loss_.item<double>();
    loss_.zero_();
    loss_since_look_ += sum, steps_since_look_ += count;
    result_.finite = std::isfinite(sum);
    progress.advance(result_.steps, text("loss ", sum / static_cast<double>(count)));
    if (!result_.finite || share_of_budget() >= 1 || !progress.stop_requested()) continue;
    result_.interrupted = true;
    if (calls.save) calls.save(state());
  }
  progress.end();
  result_.seconds = seconds();
  result_.recorded = captured.recorded();
  if (result_.finite && !result_.interrupted) result_.interrupted = !finish(progress);
  return result_;
}

}  // namespace

EnergyFitOptions::EnergyFitOptions() {
  train.steps = 20000;
  train.batch = 256;
  train.average = 0.999;
  train.evaluate_every = 2000;
  train.patience = 0;
  looks.rows = 500;
}

void EnergyFitOptions::visit(OptionVisitor& v) {
  model.visit(v);
  v("matching", matching, ObjectiveOptions::matchings(),
    "time, joint: loss along the paths of the samples, or with the paper's boundary terms");
  v("times", times, {"stratified", "history"},
    "time, joint, conditional: times of training evenly, or more often where losses have been "
    "large, "
    "with the inverse as their weight; velocity has a density of its own");
  train.visit(v);
  v("minutes", minutes, at_least(0),
    "wall clock after which training ends, whatever the steps; 0: no limit");
  v("half", half, "convolutions in bfloat16, where there is CUDA");
  v("graph", graph, "record the step as a graph and replay it, where there is CUDA");
  v("look-rows", looks.rows, at_least(2),
    "validation images that are looked at while training runs, the first ones");
  v("look-samples", look_samples, at_least(1),
    "images drawn at each look: by the flow (velocity), or by annealing (others, with "
    "look-anneal-steps)");
  v("look-anneal-steps", look_anneal_steps, at_least(0),
    "objectives without a flow: temperatures of the annealing that draws the images of a look, "
    "which takes as long as thousands of steps; 0: no images");
}

void EnergyFitOptions::check() const {
  validate(*this);
  model.check();
  dre::check(train.steps >= 1, "steps is 0: an energy model without training is its noise model");
  dre::check(train.patience == 0, "energy models have no early stopping; leave patience at 0");
  dre::check(train.weight_decay == 0 || train.optimizer == "adamw",
             "weight-decay needs optimizer adamw here");
  const std::string& objective = model.objective;
  dre::check(look_anneal_steps == 0 || objective != "velocity",
             "look-anneal-steps is for objectives without a flow; velocity draws by its flow");
  dre::check(matching == ObjectiveOptions().matching || objective == "time" || objective == "joint",
             "matching ", matching, " is for the objectives time and joint, not for ", objective);
  dre::check(times != "history" || objective == "time" || objective == "joint" ||
                 objective == "conditional",
             "times history is for the objectives time, joint and conditional, not for ",
             objective);
}

nlohmann::json to_json(const EnergyLook& look) {
  nlohmann::json validation = to_json(look.report);
  validation.erase("corrected");  // the correction comes after training
  return {
      {"step", look.step}, {"seconds", look.seconds}, {"training_seconds", look.training_seconds},
      {"rate", look.rate}, {"loss", look.loss},       {"validation", validation}};
}

EnergyFitResult fit_energy(EnergyModel& model, const EnergyData& data,
                           const EnergyFitOptions& options, Progress& progress,
                           const EnergyFitCalls& calls) {
  options.check();
  const int64_t d = model.dimension();
  for (const Tensor& pixels : {data.train, data.validation})
    check(pixels.dim() == 2 && pixels.size(1) == d && pixels.size(0) >= 2, "images must be [n, ", d,
          "], got ", pixels.sizes());
  return EnergyTrainer(model, data, options).run(progress, calls);
}

}  // namespace dre
