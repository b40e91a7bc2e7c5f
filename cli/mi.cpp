/// dre mi: mutual information of two groups of columns.

#include <cmath>
#include <cstdio>
#include <numbers>

#include "cli/command.h"
#include "cli/flags.h"
#include "cli/output.h"
#include "cli/processors.h"
#include "cli/progress_bar.h"
#include "cli/summary.h"
#include "dre/apps/mutual_information.h"
#include "dre/base/names.h"
#include "dre/data/output.h"
#include "dre/data/place.h"
#include "dre/data/writer.h"

namespace dre::cli {
namespace {

const char* const mi_command = "dre mi";

struct MiConfig {
  GroupsOptions groups;
  std::string unit = "nats";
  std::string pointwise;
  MutualInformationOptions information;
  Processors processors;

  void visit(OptionVisitor& v) {
    groups.visit(v);
    v("unit", unit, {"nats", "bits"}, "of the result");
    v("pointwise", pointwise, {}, "file for log p(x,y) / (p(x) p(y)) of every row");
    information.visit(v);
    processors.visit(v);
  }
};

std::string as_text(const MutualInformation& found, const Groups& groups, const MiConfig& config,
                    double scale) {
  const Divergence& d = found.information;
  const std::string bound =
      std::isinf(groups.entropy)
          ? ""
          : summary_line("bound", text(short_number(scale * groups.entropy), " ", config.unit,
                                       ", the entropy of a group of categories alone"));
  return summary_line("x", listed(groups.x_columns)) + summary_line("y", listed(groups.y_columns)) +
         summary_line("rows", text(found.rows)) +
         summary_line("information",
                      text(short_number(scale * d.value), " [", short_number(scale * d.low), ", ",
                           short_number(scale * d.high), "] ", config.unit, ", ",
                           short_number(100 * found.level), " % confidence")) +
         bound;
}

std::string as_json(const MutualInformation& found, const Groups& groups, const MiConfig& config,
                    double scale) {
  const Divergence& d = found.information;
  const nlohmann::json json = {{"schema", "dre-mi"},
                               {"schema_version", 1},
                               {"x", groups.x_columns},
                               {"y", groups.y_columns},
                               {"rows", found.rows},
                               {"unit", config.unit},
                               {"level", found.level},
                               {"value", scale * d.value},
                               {"low", scale * d.low},
                               {"high", scale * d.high},
                               {"standard_error", scale * d.standard_error},
                               {"bound", scale * groups.entropy},  // null where there is none
                               {"warnings", warnings_json(groups.warnings)}};
  return json.dump(2) + "\n";
}

int run(const MiConfig& config, const RunFlags& flags, int64_t dx, int64_t dy) {
  config.processors.set_up();
  check_outputs({"-", config.pointwise}, {config.groups.data});
  if (!config.pointwise.empty()) check_table_format(config.pointwise);
  ProgressBar progress(mi_command, flags.quiet);
  const Groups groups = load_groups(config.groups, dx, dy, config.information.fit.seed);
  check_data(config.pointwise.empty() || !groups.sampled, "not all rows fit into --max-rows ",
             config.groups.max_rows, ", and --pointwise writes one number for each; raise it");
  progress.warn(groups.warnings);
  const StopSignals signals;
  const MutualInformation found = mutual_information(groups, config.information, progress);
  if (found.interrupted) return progress.interrupted("nothing was written");
  const double scale = config.unit == "bits" ? 1 / std::numbers::ln2 : 1;
  if (!config.pointwise.empty()) {
    const auto writer = open_writer(config.pointwise, {"pointwise"});
    writer->write((scale * found.pointwise).unsqueeze(1));
    writer->finish();
  }
  if (flags.format == "json") {
    print_result(as_json(found, groups, config, scale));
  } else if (flags.quiet) {
    char digits[40];
    std::snprintf(digits, sizeof digits, "%.10g\n", scale * found.information.value);
    print_result(digits);
  } else {
    print_result(as_text(found, groups, config, scale));
  }
  return exit_fine;
}

}  // namespace

int run_mi(int argc, char** argv) {
  MiConfig config;
  RunFlags run_flags;
  std::string file;
  int64_t dx = 0, dy = 0;
  CLI::App app(
      "Mutual information of two groups of columns of one table: --x a,b --y c,d, or the first DX "
      "columns and the DY columns behind them. With --quiet just the number is printed. The method "
      "auto learns from all pairings of the rows of a batch; any other compares the rows with "
      "shuffles of them. Where a group holds categories alone, the information is at most "
      "the entropy of these in the rows, and its interval ends at the logarithm of their levels.",
      mi_command);
  app.add_option("file", file, "file with the rows, as --data")->type_name("FILE");
  app.add_option("dx", dx, "columns of the first group")->type_name("DX");
  app.add_option("dy", dy, "columns of the second group")->type_name("DY");
  Flags flags(app);
  flags.group("Data", config.groups);
  group_fit(flags, config.information.fit);
  flags.title("Information");
  config.visit(flags);
  run_flags.add_config(app);
  run_flags.add_format(app);
  run_flags.add_quiet(app);
  if (parse(app, argc, argv)) return exit_fine;
  resolve(config, run_flags.config, flags.overrides());
  check(file.empty() || !flags.overrides().contains("data"),
        "give the file once: FILE, which DX and DY follow, or --data with --x and --y");
  if (!file.empty()) config.groups.data = file;
  if (run_flags.print_config) {
    check(dx == 0 && dy == 0,
          "a configuration has no place for DX and DY; name the columns with --x and --y");
    print_result(to_json(config).dump(2) + "\n");
    return exit_fine;
  }
  return run(config, run_flags, dx, dy);
}

}  // namespace dre::cli
