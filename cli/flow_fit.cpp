/// dre flow fit: a density from rows, by maximum likelihood.
#include <chrono>
#include <iostream>

#include "cli/actions.h"
#include "cli/checkpoint.h"
#include "cli/command.h"
#include "cli/flow.h"
#include "cli/flow_data.h"
#include "cli/progress_bar.h"
#include "cli/summary.h"
#include "dre/apps/energy_fit.h"
#include "dre/base/names.h"
#include "dre/data/output.h"
#include "dre/density/density_file.h"
#include "dre/density/gaussian_density.h"

namespace dre::cli {
namespace {

const char* const who = "dre flow fit";

struct FitConfig {
  FlowSource source;
  std::string density = "gaussian";
  std::string out;
  double held_out = 0.1;
  int64_t draws = 8;
  double minutes = 0;
  FlowOptions flow;
  TrainOptions train = flow_train_options("copula");
  Machine machine;

  void visit(OptionVisitor& v) {
    source.visit(v);
    v("density", density, density_names(),
      "kind; training options not given are the paper's for that kind");
    v("out", out, {}, "density file to write, flow.safetensors");
    v("held-out", held_out, between(0.01, 0.9), "share of a table's rows to judge by");
    v("draws", draws, at_least(1), "gaussian: draws of the pixels' noise in the moments");
    v("minutes", minutes, at_least(0),
      "end with a checkpoint after this time, for --resume to go on from; 0: no limit");
    flow.visit_recipe(v);
    train.visit(v);
    machine.visit(v);
  }

  /// What decides the result, for the record and for who may go on from a checkpoint.
  nlohmann::json deciding() const {
    FlowOptions recipe = flow;
    nlohmann::json json = {{"density", density}, {"seed", machine.seed}, {"held-out", held_out}};
    ToJson visitor(json);
    if (density == "gaussian") {
      json["draws"] = draws;
    } else {
      recipe.visit_recipe(visitor);
      TrainOptions training = train;
      training.visit(visitor);
    }
    return json;
  }
};

struct Arguments {
  FitConfig config;
  RunFlags run;
  bool resume = false;
};

/// Another progress that also asks for a stop when the time is up.
class TimeLimited final : public Progress {
 public:
  TimeLimited(Progress& inner, double minutes) : inner_(inner), minutes_(minutes) {}

  bool expired() const {
    const std::chrono::duration<double, std::ratio<60>> spent = Clock::now() - start_;
    return minutes_ > 0 && spent.count() >= minutes_;
  }
  void begin(const std::string& stage, int64_t total) override { inner_.begin(stage, total); }
  void advance(int64_t done, const std::string& note) override { inner_.advance(done, note); }
  void end() override { inner_.end(); }
  void warn(const std::string& code, const std::string& message) override {
    inner_.warn(code, message);
  }
  bool stop_requested() override { return expired() || inner_.stop_requested(); }

 private:
  using Clock = std::chrono::steady_clock;
  Progress& inner_;
  double minutes_;
  Clock::time_point start_ = Clock::now();
};

DensityPtr fit_gaussian(const FlowData& data, int64_t draws, const Context& context) {
  if (data.train.scalar_type() == torch::kUInt8) return gaussian_noise(data.train, draws, context);
  GaussianFit fit;
  for (const auto& block : data.train.split(10000)) fit.add(block.to(context.device));
  return std::make_shared<GaussianDensity>(fit.density(context));
}

nlohmann::json training_json(const TrainResult& result) {
  nlohmann::json curve = nlohmann::json::array();
  for (const auto& point : result.curve) curve.push_back({point.step, point.train, point.held_out});
  return {{"status", describe(result.status)},
          {"steps", result.steps},
          {"best_step", result.best_step},
          {"best_loss", result.best_loss},
          {"curve", curve}};
}

struct Fitted {
  DensityPtr density;
  nlohmann::json training;  ///< null for a density without steps
  bool interrupted = false;
};

Fitted fit_flow(const Arguments& arguments, const FlowRows& rows, CheckpointFile& checkpoint,
                const Context& context, Progress& progress) {
  const FitConfig& config = arguments.config;
  FlowOptions options = config.flow;
  options.dimension = rows.data.train.size(1);
  const auto flow = std::make_shared<Flow>(config.density, options, context);
  const NamedTensors state = checkpoint.start(arguments.resume, progress);
  if (state.empty()) start_flow(*flow, rows.data, context);
  FlowTrainer trainer(*flow, rows.data, config.train, context);
  if (!state.empty()) trainer.restore(state);
  const StopSignals signals;
  const TrainResult result = trainer.run(progress, [&] { checkpoint.save(trainer.state()); });
  const bool interrupted = result.status == TrainResult::Status::interrupted;
  if (interrupted) {
    checkpoint.save(trainer.state());
    trainer.use_best();
  }
  if (result.status == TrainResult::Status::not_finite)
    progress.warn("training-diverged", text("the loss left the finite numbers at step ",
                                            result.steps, "; the best weights are kept"));
  return {flow, training_json(result), interrupted};
}

std::string result_text(const FitConfig& config, const nlohmann::json& record, double seconds) {
  std::string out = summary_line("density", config.density);
  if (const auto& training = record["training"]; training.is_object())
    out += summary_line("training",
                        text(training["status"].get<std::string>(), ", ", training["steps"],
                             " steps, best at ", training["best_step"]));
  return out + bits_text(record["test"]) + summary_line("seconds", short_number(seconds)) +
         summary_line("file", config.out);
}

int run(const Arguments& arguments) {
  const auto start = std::chrono::steady_clock::now();
  const FitConfig& config = arguments.config;
  config.source.check();
  check(!config.out.empty() && config.out != "-", "--out FILE is missing: the density to write");
  check_outputs({config.out}, {config.source.input});
  Context context = config.machine.context();
  context.dtype = config.source.precision();
  const FlowRows rows = load_flow_rows(config.source, config.held_out, context);
  ProgressBar bar(who, arguments.run.quiet);
  TimeLimited progress(bar, config.minutes);
  CheckpointFile checkpoint(config.out, config.deciding(), rows.description);
  if (config.density == "gaussian") checkpoint.start(arguments.resume, bar);  // of another fit
  const Fitted fitted = config.density == "gaussian"
                            ? Fitted{fit_gaussian(rows.data, config.draws, context), {}}
                            : fit_flow(arguments, rows, checkpoint, context, progress);
  if (fitted.interrupted && !progress.expired()) {
    std::cerr << who << ": interrupted; the state is in " << checkpoint.path()
              << "; the same command with --resume goes on from it" << std::endl;
    return exit_interrupted;
  }
  auto generator = context.device_generator("test noise");
  const Tensor bits = flow_bits(*fitted.density, rows_on(rows.test, context), generator);
  nlohmann::json record = {{"options", config.deciding()},
                           {"data", rows.description},
                           {"training", fitted.training},
                           {"test", bits_json(bits, fitted.density->dimension())},
                           {"device", context.device.str()}};
  save_density(config.out, *fitted.density, record);
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  record["seconds"] = elapsed.count();
  record["file"] = config.out;
  print_result(arguments.run.format == "json" ? record.dump(2) + "\n"
                                              : result_text(config, record, elapsed.count()));
  if (!fitted.interrupted) {
    checkpoint.remove();
    return exit_fine;
  }
  std::cerr << who << ": the time is up; the best density so far is in " << config.out
            << ", the state in " << checkpoint.path()
            << "; the same command with --resume goes on from it" << std::endl;
  return exit_fine;
}

/// The density decides the defaults of training, so it must be known before the rest is read.
std::string chosen_density(const RunFlags& run, const nlohmann::json& overrides) {
  nlohmann::json given = read_config(run.config);
  given.update(overrides);
  const auto found = given.find("density");
  return found != given.end() && found->is_string() ? found->get<std::string>() : "";
}

}  // namespace

int fit_flow_action(int argc, char** argv) {
  Arguments arguments;
  FitConfig& config = arguments.config;
  CLI::App app("Fits a density to rows or to MNIST.", who);
  Flags flags(app);
  flags.group("Flow", config.flow);
  flags.group("Training", config.train);
  app.add_flag("--resume", arguments.resume, "go on from OUT.checkpoint of an unfinished fit")
      ->group("Run");
  const auto defaults = [&] {
    const std::string density = chosen_density(arguments.run, flags.overrides());
    if (contains(flow_names(), density)) config.train = flow_train_options(density);
  };
  if (!read_arguments(app, flags, config, arguments.run, argc, argv, defaults)) return exit_fine;
  return run(arguments);
}

}  // namespace dre::cli
