#include "experiments/mnist/work.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <optional>

#include "dre/base/error.h"
#include "dre/data/checksum.h"
#include "dre/data/png.h"
#include "dre/density/density_file.h"
#include "dre/energy/anneal.h"
#include "dre/energy/evaluate.h"
#include "dre/energy/flow.h"
#include "dre/energy/log_ratio.h"
#include "dre/energy/noise.h"
#include "dre/report/base64.h"
#include "dre/train/flow_trainer.h"
#include "experiments/store.h"
#include "experiments/unfinished.h"

namespace dre::experiments::mnist {
namespace {

constexpr int64_t side = 28, pictures_across = 6;

/// A grid of the first images. pixels: [n, d], bytes
std::string picture(const Tensor& pixels) {
  const Tensor shown = pixels.slice(0, 0, pictures_across * pictures_across);
  return report::base64(png_bytes(image_grid(shown, side, pictures_across)));
}

/// A file of other settings would be replaced by what a cell makes.
void check_same_plan(const Json& record, const Json& plan, const std::string& path) {
  const bool same = record.is_object() && record.value("plan", Json()) == plan;
  check_data(same, path, " holds a model that these settings did not make; move it away");
}

/// The model of this plan that an earlier cell or run left, if there is one.
std::optional<EnergyFile> find_model(const FitPlan& plan, const std::string& path,
                                     const Context& context) {
  if (!std::filesystem::exists(path)) return std::nullopt;
  check_same_plan(read_energy_record(path), plan.training_options(), path);
  return load_energy(path, context);
}

/// The same for a noise model, which may also be one that `dre flow fit` wrote and someone put
/// there.
std::optional<DensityFile> find_noise(const NoisePlan& plan, const std::string& path,
                                      const Context& context) {
  if (!std::filesystem::exists(path)) return std::nullopt;
  DensityFile file = load_density(path, context);
  const bool own = file.record.contains("plan");
  check_data(own || file.density->name() == plan.noise.name, path, " holds a noise model '",
             file.density->name(), "', not '", plan.noise.name, "'; move it away");
  if (own) check_same_plan(file.record, plan.options(), path);
  return file;
}

void check_left(bool found, const std::string& path, const std::string& row) {
  check_data(
      found, "there is no ", path, "; the cell '", row,
      "' makes it: compute that first, without --earlier, which brings figures and no models");
}

/// A progress that ends a cell where a stop was asked for while it worked.
void stop_here(Progress& progress) {
  if (progress.stop_requested()) throw Interrupted{};
}

// Noise models

DensityFile trained_flow(const NoisePlan& plan, const Place& place, const Context& context,
                         Progress& progress) {
  const MnistSplit& images = place.images->split();
  const FlowData data{images.train, images.validation};
  const Unfinished unfinished(place.model_file(plan.row(), context.seed) + ".checkpoint",
                              plan.options());
  const auto flow = std::make_shared<Flow>(plan.noise.name, plan.flow, context);
  const auto before = unfinished.load();
  if (!before) start_flow(*flow, data, context);
  FlowTrainer trainer(*flow, data, plan.train, context);
  if (before) trainer.restore(before->tensors);
  const double seconds_before = before ? number_in(before->history, "seconds") : 0;
  const auto start = std::chrono::steady_clock::now();
  const auto seconds = [&] {
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    return seconds_before + elapsed.count();
  };
  const auto save = [&] { unfinished.save(trainer.state(), {{"seconds", seconds()}}); };
  const TrainResult result = trainer.run(progress, save);
  if (result.status == TrainResult::Status::interrupted) {
    save();
    throw Interrupted{};
  }
  return {flow,
          {{"plan", plan.options()},
           {"steps", result.steps},
           {"status", describe(result.status)},
           {"minutes", seconds() / 60}}};
}

DensityFile fitted_noise(const NoisePlan& plan, const Place& place, const Context& context,
                         Progress& progress) {
  const std::string path = place.model_file(plan.row(), context.seed);
  if (auto found = find_noise(plan, path, context)) return *found;
  make_folders(place.files);
  const bool closed_form = std::string(plan.noise.name) == "gaussian";
  DensityFile file =
      closed_form ? DensityFile{gaussian_noise(place.images->split().train, plan.draws, context),
                                {{"plan", plan.options()}}}
                  : trained_flow(plan, place, context, progress);
  save_density(path, *file.density, file.record);
  Unfinished(path + ".checkpoint", plan.options()).remove();
  return file;
}

// Energy models

Json look_json(const EnergyLook& look) {
  const Json validation = to_json(look.report);
  return {{"step", look.step},
          {"minutes", look.training_seconds / 60},
          {"direct", validation["direct"]},
          {"flow", validation["flow"]},
          {"disagreement", validation["disagreement"]}};
}

EnergyFile trained_model(const FitPlan& plan, const Place& place, const Context& context,
                         Progress& progress) {
  const std::string path = place.model_file(plan.row(), context.seed);
  const std::string noise_path = place.model_file(plan.noise.row(), context.seed);
  const auto noise = find_noise(plan.noise, noise_path, context);
  check_left(noise.has_value(), noise_path, plan.noise.row());
  const MnistSplit& images = place.images->split();
  const auto model = std::make_shared<EnergyModel>(
      noise->density, plan.fit.model, context, energy_frame(plan.fit.model, images.train, context));
  Json origin = plan.training_options();
  origin["noise model"] = file_checksum(noise_path);
  const Unfinished unfinished(path + ".checkpoint", origin);
  const auto before = unfinished.load();
  Json looks = before ? before->history : Json::array();
  EnergyFitCalls calls;
  if (before) calls.resume = before->tensors;
  calls.look = [&](const EnergyLook& look) { looks.push_back(look_json(look)); };
  calls.save = [&](const NamedTensors& state) { unfinished.save(state, looks); };
  const EnergyFitResult result =
      fit_energy(*model, {images.train, images.validation}, plan.fit, progress, calls);
  if (result.interrupted) throw Interrupted{};
  if (!result.finite)
    fail(Error::Kind::numerical, "the loss left the finite numbers at step ", result.steps);
  const Json record = {{"plan", plan.training_options()},
                       {"parameters", model->network().parameters().count()},
                       {"steps", result.steps},
                       {"minutes", result.seconds / 60},
                       {"recorded_graph", result.recorded},
                       {"looks", looks}};
  save_energy(path, *model, record);
  unfinished.remove();
  return {model, record};
}

EnergyFile fitted_model(const FitPlan& plan, const Place& place, const Context& context,
                        Progress& progress) {
  const std::string path = place.model_file(plan.row(), context.seed);
  if (auto found = find_model(plan, path, context)) return *found;
  return trained_model(plan, place, context, progress);
}

/// How far log r is from that by twice the nodes: nats, mean and root mean square.
Json node_shift(const EnergyModel& model, const Tensor& pixels, const AnnealPlan& plan,
                const Context& context) {
  const torch::NoGradGuard no_grad;
  auto generator = context.device_generator("node shift");
  const Tensor some = pixels.slice(0, 0, plan.evaluate.rows_at_once);
  const Tensor y = model.space().enter(dequantise(some, generator, model.context().dtype).x).point;
  const Tensor shift = energy_log_ratio(model, y, plan.evaluate.nodes) -
                       energy_log_ratio(model, y, 2 * plan.evaluate.nodes);
  return {{"mean", shift.mean().item<double>()},
          {"rms", shift.square().mean().sqrt().item<double>()}};
}

}  // namespace

const MnistSplit& Images::split() const {
  std::call_once(read_, [this] {
    const MnistSplit all = load_mnist(folder_);
    split_.train = all.train.slice(0, 0, rows_.train);
    split_.validation = all.validation.slice(0, 0, rows_.validation);
    split_.test = all.test.slice(0, 0, rows_.test);
  });
  return split_;
}

std::string Place::model_file(const std::string& row, uint64_t seed) const {
  std::string name = row;
  std::replace(name.begin(), name.end(), ' ', '-');
  return text(files, "/", name, "-seed", seed, ".safetensors");
}

Json run_noise(const NoisePlan& plan, const Place& place, const Context& context,
               Progress& progress) {
  const DensityFile file = fitted_noise(plan, place, context, progress);
  stop_here(progress);
  const Tensor test = place.images->split().test.to(context.device);
  auto generator = context.device_generator("evaluation");
  Json result = {{"bits", to_json(mean_of(flow_bits(*file.density, test, generator)))}};
  for (const char* field : {"steps", "minutes", "status"})
    if (file.record.contains(field)) result[field] = file.record[field];
  // As dre flow fit keeps them.
  if (const auto steps = Json::json_pointer("/training/steps"); file.record.contains(steps))
    result["steps"] = file.record[steps];
  const int64_t shown = pictures_across * pictures_across;
  result["picture"] = picture(to_pixels(file.density->sample(shown, generator)));
  return result;
}

Json run_fit(const FitPlan& plan, const Place& place, const Context& context, Progress& progress) {
  const EnergyFile file = fitted_model(plan, place, context, progress);
  stop_here(progress);
  const Tensor test = place.images->split().test.to(context.device);
  auto generator = context.device_generator("evaluation");
  Json result = {
      {"test", to_json(evaluate_energy(*file.model, test, plan.evaluate, generator, progress))}};
  stop_here(progress);
  for (const char* field : {"parameters", "steps", "minutes", "recorded_graph", "looks"})
    result[field] = file.record[field];
  if (has_flow(*file.model)) {
    const InPrecision precision(file.model->network(), plan.evaluate.half);
    const auto y = flow_samples(*file.model, pictures_across * pictures_across,
                                plan.evaluate.flow_steps, generator, progress);
    if (!y) throw Interrupted{};
    result["picture"] = picture(energy_pixels(*file.model, *y));
  }
  return result;
}

Json run_anneal(const AnnealPlan& plan, const Place& place, const Context& context,
                Progress& progress) {
  const std::string path = place.model_file(plan.fit.row(), context.seed);
  const auto file = find_model(plan.fit, path, context);
  check_left(file.has_value(), path, plan.fit.row());
  const Tensor test = place.images->split().test.to(context.device);
  const EnergyAnnealReport report =
      anneal_energy(*file->model, test, plan.evaluate, plan.anneal, context, progress);
  if (!report.finished) throw Interrupted{};
  return {{"annealed", to_json(report)},
          {"node_shift", node_shift(*file->model, test, plan, context)},
          {"picture", picture(energy_pixels(*file->model, report.samples))}};
}

}  // namespace dre::experiments::mnist
