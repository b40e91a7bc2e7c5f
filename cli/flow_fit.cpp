/// dre flow fit: a density from rows, by maximum likelihood.
#include <ATen/Parallel.h>

#include <chrono>
#include <iostream>
#include <optional>

#include "cli/actions.h"
#include "cli/checkpoint.h"
#include "cli/command.h"
#include "cli/flow.h"
#include "cli/flow_data.h"
#include "cli/progress_bar.h"
#include "cli/summary.h"
#include "dre/base/names.h"
#include "dre/data/output.h"
#include "dre/density/density_file.h"
#include "dre/density/gaussian_density.h"
#include "dre/energy/noise.h"

namespace dre::cli {
namespace {

const char* const flow_fit_command = "dre flow fit";

struct FlowFitConfig {
  FlowSource source;
  std::string density = "gaussian";
  std::string out;
  double held_out = 0.1;
  int64_t draws = 8;
  double minutes = 0;
  int64_t look_rows = 0, test_rows = 0;
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
    v("look-rows", look_rows, at_least(0),
      "held-out rows that judge the training while it runs, the first ones; 0: all");
    v("test-rows", test_rows, at_least(0),
      "rows of the figure that is reported in the end, the first ones; 0: all");
    flow.visit_recipe(v);
    train.visit(v);
    machine.visit(v);
  }

  /// Usage error for options of another density.
  void check(const Flags& flags) const {
    if (density != "gaussian") return flags.refuse({"draws"}, "--density gaussian");
    nlohmann::json idle = {{"minutes", 0}, {"look-rows", 0}};
    FlowOptions recipe = flow;
    ToJson visitor(idle);
    recipe.visit_recipe(visitor);
    idle.update(to_json(train));
    Names names;
    for (const auto& option : idle.items()) names.push_back(option.key());
    flags.refuse(names, text("--density ", join(flow_names(), " or ")));
  }

  /// What decides the result, for the record and for who may go on from a checkpoint.
  nlohmann::json deciding() const {
    FlowOptions recipe = flow;
    nlohmann::json json = {{"density", density}, {"seed", machine.seed}, {"held-out", held_out}};
    ToJson visitor(json);
    if (density == "gaussian") {
      json["draws"] = draws;
    } else {
      json["look-rows"] = look_rows;
      recipe.visit_recipe(visitor);
      TrainOptions training = train;
      training.visit(visitor);
    }
    return json;
  }
};

struct FlowFitArguments {
  FlowFitConfig config;
  RunFlags run;
  bool resume = false;
};

/// Another progress that also asks for a stop when the time is up.
class TimeLimited final : public Progress {
 public:
  TimeLimited(Progress& inner, double minutes) : inner_(inner), minutes_(minutes) {}

  Progress& inner() { return inner_; }

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

enum class Ending { finished, stopped, time_is_up, diverged };

struct Fitted {
  DensityPtr density;
  nlohmann::json training;  ///< null for a density without steps
  Ending ending = Ending::finished;
};

/// `signals` begins with the training, which listens: before, Ctrl-C ends the process.
Fitted fit_flow(const FlowFitArguments& arguments, const FlowRows& rows, CheckpointFile& checkpoint,
                const Context& context, TimeLimited& progress,
                std::optional<StopSignals>& signals) {
  const FlowFitConfig& config = arguments.config;
  FlowOptions options = config.flow;
  options.dimension = rows.data.train.size(1);
  const auto flow = std::make_shared<Flow>(config.density, options, context);
  const NamedTensors state = checkpoint.start(arguments.resume, progress);
  if (state.empty()) start_flow(*flow, rows.data, context);
  const FlowData data{rows.data.train, first_rows(rows.data.held_out, config.look_rows)};
  FlowTrainer trainer(*flow, data, config.train, context);
  if (!state.empty()) trainer.restore(state);
  signals.emplace();
  trainer.run(progress, [&] { checkpoint.save(trainer.state()); });
  const TrainResult& result = trainer.result();
  Ending ending = Ending::finished;
  if (result.status == TrainResult::Status::not_finite) ending = Ending::diverged;
  if (result.status == TrainResult::Status::interrupted) {
    checkpoint.save(trainer.state());
    ending = progress.expired() ? Ending::time_is_up : Ending::stopped;
  }
  if (ending == Ending::time_is_up) {
    trainer.look(progress.inner());
    trainer.use_best();
  }
  return {flow, training_json(result), ending};
}

std::string result_text(const FlowFitConfig& config, const nlohmann::json& record, double seconds) {
  std::string out = summary_line("density", config.density);
  if (const auto& training = record["training"]; training.is_object())
    out += summary_line("training",
                        text(training["status"].get<std::string>(), ", ", training["steps"],
                             " steps, best at ", training["best_step"]));
  const bool held_out = record.contains("held_out");
  const std::string rows =
      text("held out of the fit",
           record["training"].is_object() ? "; by them its best step was chosen" : "");
  return out + bits_text(record[held_out ? "held_out" : "test"]) +
         (held_out ? summary_line("rows", rows) : "") +
         summary_line("seconds", short_number(seconds)) + summary_line("file", config.out);
}

/// Tells what a user should know of a fit whose density was written; its checkpoint stays where it
/// can go on. bits: of the rows that were judged.
int end_of(const Fitted& fitted, const FlowFitConfig& config, const CheckpointFile& checkpoint,
           const Tensor& bits, int64_t rows) {
  const auto tell = [](const std::string& line) {
    std::cerr << flow_fit_command << ": " << line << std::endl;
  };
  if (fitted.ending == Ending::time_is_up)
    tell(text("the time is up; the best density so far is in ", config.out, "; ",
              checkpoint.where_it_stands()));
  else
    checkpoint.remove();
  if (fitted.ending == Ending::diverged)
    tell(text("the loss left the finite numbers at step ", fitted.training["steps"],
              "; the best weights before are in ", config.out, "; try a smaller --rate"));
  const int64_t bad = at::isfinite(bits).logical_not().sum().item<int64_t>();
  if (bad > 0)
    tell(text("the density is in ", config.out, ", but that of ", bad, " of ", bits.size(0),
              " rows is not a finite number; are they far from all others?"));
  if (bits.size(0) < rows)
    tell(text("interrupted; the density is in ", config.out, ", its figure is of the first ",
              bits.size(0), " rows only"));
  if (fitted.ending == Ending::diverged || bad > 0) return exit_numerical;
  return bits.size(0) < rows ? exit_interrupted : exit_fine;
}

int run(const FlowFitArguments& arguments) {
  const auto start = std::chrono::steady_clock::now();
  const FlowFitConfig& config = arguments.config;
  check(!config.out.empty() && config.out != "-", "--out FILE is missing: the density to write");
  check_outputs({config.out}, {config.source.input});
  Context context = config.machine.context();
  context.dtype = config.source.precision();
  const FlowRows rows = load_flow_rows(config.source, config.held_out, context);
  ProgressBar bar(flow_fit_command, arguments.run.quiet);
  TimeLimited progress(bar, config.minutes);
  std::optional<StopSignals> signals;
  CheckpointFile checkpoint(config.out, config.deciding(), rows.description);
  if (config.density == "gaussian") checkpoint.start(arguments.resume, bar);  // of another fit
  const Fitted fitted = config.density == "gaussian"
                            ? Fitted{fit_gaussian(rows.data, config.draws, context), {}}
                            : fit_flow(arguments, rows, checkpoint, context, progress, signals);
  if (fitted.ending == Ending::stopped) return bar.interrupted(checkpoint.where_it_stands());
  nlohmann::json record = {{"options", config.deciding()},
                           {"data", rows.description},
                           {"training", fitted.training},
                           {"seed", config.machine.seed},
                           {"device", context.device.str()},
                           {"threads", at::get_num_threads()},
                           {"deterministic", config.machine.processors.deterministic}};
  save_density(config.out, *fitted.density, record);  // judging it may take long
  const Tensor test = rows_on(first_rows(rows.test, config.test_rows), context);
  auto generator = context.device_generator("test noise");
  if (!signals) signals.emplace();
  const Tensor bits = flow_bits(*fitted.density, test, generator, bar);
  record[rows.test_name] = bits_json(bits, fitted.density->dimension());
  save_density(config.out, *fitted.density, record);
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  record["seconds"] = elapsed.count();
  record["file"] = config.out;
  print_result(arguments.run.format == "json" ? record.dump(2) + "\n"
                                              : result_text(config, record, elapsed.count()));
  return end_of(fitted, config, checkpoint, bits, test.size(0));
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
  FlowFitArguments arguments;
  FlowFitConfig& config = arguments.config;
  CLI::App app("Fits a density to rows or to MNIST.", flow_fit_command);
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
  config.source.settle();
  config.check(flags);
  return run(arguments);
}

}  // namespace dre::cli
