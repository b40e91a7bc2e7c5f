/// dre fit: from files to a model file.
#include <chrono>

#include "cli/checkpoint.h"
#include "cli/command.h"
#include "cli/flags.h"
#include "cli/output.h"
#include "cli/processors.h"
#include "cli/progress_bar.h"
#include "cli/summary.h"
#include "dre/apps/fit_sides.h"
#include "dre/data/output.h"
#include "dre/ratio/model_file.h"

namespace dre::cli {
namespace {

const char* const fit_command = "dre fit";

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

struct FitArguments {
  FitConfig config;
  RunFlags run;
  bool resume = false;
};

void add_flags(CLI::App& app, Flags& flags, FitArguments& arguments) {
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

void check_out(const std::string& out, const SidesOptions& sides) {
  check(!out.empty(), "--out FILE is missing: where the model is to be written");
  check(out != "-", "--out must be a file: standard output gets the summary");
  check_outputs({out}, sides.files());
}

FitSidesResult fit_or_resume(const Sides& sides, const FitConfig& config,
                             CheckpointFile& checkpoint, bool resume, Progress& progress) {
  Checkpointing checkpointing;
  checkpointing.save = [&](const NamedTensors& state) { checkpoint.save(state); };
  checkpointing.resume = checkpoint.start(resume, progress);
  return fit_sides(sides, config.fit, progress, checkpointing);
}

/// The first ones were shown before the fit.
void warn_of_rest(const std::vector<Warning>& warnings, size_t shown, Progress& progress) {
  for (size_t i = shown; i < warnings.size(); ++i)
    progress.warn(warnings[i].code, warnings[i].message);
}

std::string result_text(const FitArguments& arguments, const nlohmann::json& record,
                        double seconds) {
  if (arguments.run.format == "text")
    return summary(record) + summary_line("seconds", short_number(seconds)) +
           summary_line("model", arguments.config.out);
  nlohmann::json json = record;
  json["seconds"] = seconds;
  json["model"] = arguments.config.out;
  return json.dump(2) + "\n";
}

int run(const FitArguments& arguments) {
  const auto start = std::chrono::steady_clock::now();
  const FitConfig& config = arguments.config;
  config.processors.set_up();
  ProgressBar progress(fit_command, arguments.run.quiet);
  check_out(config.out, config.sides);
  device_by_name(config.fit.device);
  const Sides sides = load_sides(config.sides, config.fit.seed);
  progress.warn(sides.warnings);
  CheckpointFile checkpoint(config.out, to_json(config.fit), sides.description);
  const StopSignals signals;
  FitSidesResult result = fit_or_resume(sides, config, checkpoint, arguments.resume, progress);
  if (result.fit.interrupted) return progress.interrupted(checkpoint.where_it_stands());
  warn_of_rest(result.warnings, sides.warnings.size(), progress);
  nlohmann::json& record = result.fit.estimator.record;
  record["warnings"] = warnings_json(progress.warnings());  // those about checkpoints among them
  save_model(config.out, result.fit.estimator);
  checkpoint.remove();
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  print_result(result_text(arguments, record, elapsed.count()));
  return exit_fine;
}

}  // namespace

int run_fit(int argc, char** argv) {
  FitArguments arguments;
  CLI::App app("Learns log(numerator / denominator) from two sets of rows.", fit_command);
  Flags flags(app);
  add_flags(app, flags, arguments);
  if (!settle(arguments.config, app, flags, arguments.run, argc, argv)) return exit_fine;
  return run(arguments);
}

}  // namespace dre::cli
