/// dre ratio: log-ratios of the rows of a file, a block at a time.
#include "cli/command.h"
#include "cli/flags.h"
#include "cli/output.h"
#include "cli/processors.h"
#include "cli/progress_bar.h"
#include "dre/apps/rate_table.h"
#include "dre/data/output.h"
#include "dre/data/source.h"
#include "dre/ratio/model_file.h"

namespace dre::cli {
namespace {

const char* const ratio_command = "dre ratio";

struct RatioConfig {
  std::string model, input, output = "-";
  RateOptions rate;
  std::string device = "auto";
  Processors processors;

  void visit(OptionVisitor& v) {
    v("model", model, {}, "model file that dre fit wrote");
    v("input", input, {}, "file with the rows; - is standard input");
    v("output", output, {}, "file for the log-ratios, .csv, .tsv or .npy; - is standard output");
    rate.visit(v);
    v("device", device, {"auto", "cpu", "cuda"}, "where the networks live");
    processors.visit(v);
  }
};

int judge(const RateResult& met, ProgressBar& progress) {
  progress.warn(met.warnings);
  if (met.not_finite > 0)
    fail(Error::Kind::numerical, met.not_finite, " of ", met.rows,
         " log-ratios are not finite, the first of them that of row ", met.first_not_finite);
  return exit_fine;
}

int run(const RatioConfig& config, bool quiet) {
  check(!config.model.empty(), "--model FILE is missing");
  check(!config.input.empty(), "--input FILE is missing");
  config.processors.set_up();
  check_outputs({config.output}, {config.input, config.model});
  Context context;
  context.device = device_by_name(config.device);
  const Estimator estimator = load_model(config.model, context);
  const auto reader = open_table(config.input, read_options_for(estimator));
  const auto writer = open_writer(config.output, rated_columns(estimator, config.rate));
  ProgressBar progress(ratio_command, quiet);
  const StopSignals signals;
  const RateResult met =
      rate_table(*reader, *writer, estimator, input_name(config.input), config.rate, progress);
  if (met.interrupted)
    return progress.interrupted(
        text(met.rows, " rows were rated", config.output == "-" ? "" : ", nothing was written"));
  return judge(met, progress);
}

}  // namespace

int run_ratio(int argc, char** argv) {
  RatioConfig config;
  RunFlags run_flags;
  CLI::App app("Writes log(numerator / denominator) of every row of a file, in its order.",
               ratio_command);
  Flags flags(app);
  flags.group("Integral", config.rate.ratio);
  flags.title("Ratio");
  config.visit(flags);
  run_flags.add_config(app);
  run_flags.add_quiet(app);
  if (!settle(config, app, flags, run_flags, argc, argv)) return exit_fine;
  return run(config, run_flags.quiet);
}

}  // namespace dre::cli
