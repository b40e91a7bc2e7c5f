/// dre weights: importance weights that make one table look like the other.
#include "dre/apps/weights.h"

#include <iostream>

#include "cli/columns.h"
#include "cli/command.h"
#include "cli/flags.h"
#include "cli/output.h"
#include "cli/processors.h"
#include "cli/progress_bar.h"
#include "cli/summary.h"
#include "dre/data/output.h"
#include "dre/data/source.h"
#include "dre/data/writer.h"
#include "dre/report/weights_page.h"

namespace dre::cli {
namespace {

const char* const weights_command = "dre weights";

struct WeightsConfig {
  SidesOptions sides;
  std::string output = "-", report;
  WeightsOptions weights;
  Processors processors;

  void visit(OptionVisitor& v) {
    sides.visit(v);
    v("output", output, {},
      "file for the weights: .csv and .tsv with weight, log_ratio and fold, .npy with the weights");
    v("report", report, {},
      "HTML page to write besides: the closure test, and how the weights were made and scaled");
    weights.visit(v);
    processors.visit(v);
  }
};

void write_weights(const std::string& path, const WeightsResult& result) {
  const bool array = has_ending(path, ".npy");
  using Names = std::vector<std::string>;
  const auto writer =
      open_writer(path, array ? Names{"weight"} : Names{"weight", "log_ratio", "fold"});
  const Tensor weight = result.weight.unsqueeze(1);
  writer->write(
      array ? weight
            : torch::stack({result.weight, result.log_ratio, result.fold.to(torch::kFloat64)}, 1));
  writer->finish();
}

int run(const WeightsConfig& config, const RunFlags& flags) {
  config.processors.set_up();
  check_page_name(config.report);
  check_outputs({config.output, config.report}, config.sides.files());
  check_table_format(config.output);
  const bool json = flags.format == "json";
  check(!json || config.output != "-",
        "--format json is about what --output FILE gets; standard output has the weights");
  device_by_name(config.weights.fit.device);
  ProgressBar progress(weights_command, flags.quiet);
  const Sides sides = load_sides(config.sides, config.weights.fit.seed);
  check_data(!sides.denominator_is_sampled, "not all rows of the denominator fit into --max-rows ",
             config.sides.max_rows, ", and every one of them gets a weight; raise it");
  const StopSignals signals;
  const WeightsResult result = importance_weights(sides, config.weights, progress);
  if (result.interrupted) return progress.interrupted("nothing was written");
  progress.warn(result.warnings);
  write_weights(config.output, result);
  if (!config.report.empty()) write_page(config.report, report::weights_page(result), progress);
  if (json)
    print_result(to_json(result).dump(2) + "\n");
  else if (!flags.quiet)
    std::cerr << summary_line("weights", text("r = numerator / denominator on the denominator's ",
                                              result.weight.size(0), " rows, ", result.how))
              << summary_line("quality", weight_text(result.check))
              << summary_line("closure", "numerator against reweighted denominator: 'after'")
              << column_lines(result.columns) << std::flush;
  return exit_fine;
}

}  // namespace

int run_weights(int argc, char** argv) {
  WeightsConfig config;
  RunFlags run_flags;
  CLI::App app(
      "Writes a weight for every row of the denominator (the source), so that it looks like the "
      "numerator (the target).",
      weights_command);
  Flags flags(app);
  flags.group("Data", config.sides);
  group_fit(flags, config.weights.fit);
  flags.title("Weights");
  config.visit(flags);
  run_flags.add_config(app);
  run_flags.add_format(app);
  run_flags.add_quiet(app);
  if (!settle(config, app, flags, run_flags, argc, argv)) return exit_fine;
  return run(config, run_flags);
}

}  // namespace dre::cli
