/// dre fit: from files to a model file.
#include "dre/apps/fit.h"

#include <ATen/Parallel.h>

#include <chrono>
#include <cmath>

#include "cli/checkpoint.h"
#include "cli/command.h"
#include "cli/flags.h"
#include "cli/output.h"
#include "cli/processors.h"
#include "cli/progress_bar.h"
#include "cli/summary.h"
#include "dre/apps/fit_diagnostics.h"
#include "dre/apps/sides.h"
#include "dre/base/version.h"
#include "dre/data/output.h"
#include "dre/ratio/model_file.h"

namespace dre::cli {
namespace {

const char* const who = "dre fit";

struct FitConfig {
  SidesOptions sides;
  std::string out;
  FitOptions fit;
  Processors processors;

  void visit(OptionVisitor& v) {
    sides.visit(v);
    v("out", out, {}, "model file to write, model.safetensors");
    fit.visit(v);
    processors.visit(v);
  }
};

struct Arguments {
  FitConfig config;
  RunFlags run;
  bool resume = false;
};

void add_flags(CLI::App& app, Flags& flags, Arguments& arguments) {
  FitConfig& config = arguments.config;
  flags.group("Data", config.sides);
  group_fit(flags, config.fit);
  flags.title("Fit");
  config.visit(flags);
  arguments.run.add_config(app);
  arguments.run.add_format(app);
  arguments.run.add_quiet(app);
  app.add_flag("--resume", arguments.resume, "go on from OUT.checkpoint of an interrupted fit")
      ->group("Run");
}

nlohmann::json training_json(const FitResult& result) {
  nlohmann::json out = nlohmann::json::array();
  for (size_t i = 0; i < result.members.size(); ++i) {
    const MemberReport& report = result.members[i];
    const TrainResult& training = report.training;
    nlohmann::json curve = nlohmann::json::array();
    for (const auto& point : training.curve)
      curve.push_back({point.step, point.train, point.held_out});
    nlohmann::json one = {
        {"method", report.method},
        {"bridge", report.bridge},
        {"kept", report.kept},
        {"weight", result.estimator.members()[i].weight},
        {"status", describe(training.status)},
        {"steps", training.steps},
        {"best_step", training.best_step},
        {"best_loss", training.best_loss},
        {"gain", {{"value", training.gain}, {"standard_error", training.gain_error}}},
        {"held_out_logistic", report.held_out_logistic},
        {"curve", curve}};
    if (!training.curve.empty()) one["first_loss"] = training.curve.front().held_out;
    out.push_back(one);
  }
  return out;
}

/// Everything about the fit that does not change when it is repeated: no times, no dates.
nlohmann::json make_record(const FitConfig& config, const Sides& sides, const FitResult& result) {
  return {{"options", to_json(config.fit)},
          {"data", sides.description},
          {"cells", result.estimator.cells.size()},
          {"training", training_json(result)},
          {"seed", config.fit.seed},
          {"device", result.estimator.context().device.str()},
          {"threads", at::get_num_threads()},
          {"dre_version", version()},
          {"torch_version", torch_version()}};
}

void warn_of_training(const FitResult& result, Progress& progress) {
  for (const auto& report : result.members)
    if (report.training.status == TrainResult::Status::not_finite)
      progress.warn("training-diverged",
                    text("the loss of ", report.method, " left the finite numbers at step ",
                         report.training.steps, "; the best weights before that are kept"));
}

void check_out(const std::string& out, const SidesOptions& sides) {
  check(!out.empty(), "--out FILE is missing: where the model is to be written");
  check(out != "-", "--out must be a file: standard output gets the summary");
  check_outputs({out}, sides.files());
}

FitResult run_training(const FitConfig& config, const Sides& sides, CheckpointFile& checkpoint,
                       bool resume, Progress& progress) {
  Checkpointing checkpointing;
  checkpointing.save = [&](const NamedTensors& state) { checkpoint.save(state); };
  checkpointing.resume = checkpoint.start(resume, progress);
  return fit(sides.numerator, sides.denominator, sides.names, config.fit, progress, checkpointing);
}

std::string result_text(const Arguments& arguments, const nlohmann::json& record, double seconds) {
  if (arguments.run.format == "text")
    return summary(record) + summary_line("seconds", short_number(seconds)) +
           summary_line("model", arguments.config.out);
  nlohmann::json json = record;
  json["seconds"] = seconds;
  json["model"] = arguments.config.out;
  return json.dump(2) + "\n";
}

int run(const Arguments& arguments) {
  const auto start = std::chrono::steady_clock::now();
  const FitConfig& config = arguments.config;
  config.processors.set_up();
  ProgressBar progress(who, arguments.run.quiet);
  check_out(config.out, config.sides);
  device_by_name(config.fit.device);
  const Sides sides = load_sides(config.sides, config.fit.seed);
  progress.warn(sides.warnings);
  CheckpointFile checkpoint(config.out, to_json(config.fit), sides.description);
  const StopSignals signals;
  FitResult result = run_training(config, sides, checkpoint, arguments.resume, progress);
  if (result.interrupted) return checkpoint.report_stop(who);
  warn_of_training(result, progress);
  const Diagnostics found = diagnose_fit(result, sides, config.fit, progress);
  progress.warn(found.warnings);
  nlohmann::json& record = result.estimator.record;
  record = make_record(config, sides, result);
  record["diagnostics"] = to_json(found);
  record["warnings"] = warnings_json(progress.warnings());
  result.estimator.encoding = sides.encoding;
  save_model(config.out, result.estimator);
  checkpoint.remove();
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  print_result(result_text(arguments, record, elapsed.count()));
  return exit_fine;
}

}  // namespace

int run_fit(int argc, char** argv) {
  Arguments arguments;
  CLI::App app("Learns log(numerator / denominator) from two sets of rows.", who);
  Flags flags(app);
  add_flags(app, flags, arguments);
  if (!settle(arguments.config, app, flags, arguments.run, argc, argv)) return exit_fine;
  return run(arguments);
}

}  // namespace dre::cli
