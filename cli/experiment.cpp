/// dre experiment: the paper's experiments, each with one command.
#include <iostream>

#include "cli/actions.h"
#include "cli/command.h"
#include "cli/flags.h"
#include "cli/flow_data.h"
#include "cli/output.h"
#include "cli/processors.h"
#include "cli/progress_bar.h"
#include "dre/base/version.h"
#include "dre/data/output.h"
#include "dre/data/place.h"
#include "dre/report/table.h"
#include "experiments/all.h"
#include "experiments/runner.h"
#include "experiments/write.h"

namespace dre::cli {
namespace {

using namespace dre::experiments;

const char* const experiment_command = "dre experiment run";

struct ExperimentConfig {
  bool quick = false, sweep = false;
  int64_t seeds = 0, jobs = 1;
  std::string out, earlier, only, data, device = "auto";
  double minutes = 0;
  Processors processors;

  void visit(OptionVisitor& v) {
    v("quick", quick, "two minutes on two cores: smaller settings, one seed");
    v("seeds", seeds, at_least(0), "runs of each row; 0: as many as the experiment's figures need");
    v("sweep", sweep, "also the paper's hyper-parameter sweep, where the experiment has one");
    v("out", out, {}, "folder for the page and for finished cells, from which a run goes on");
    v("earlier", earlier, {},
      "file of finished cells that are not computed again, as a run leaves in --out");
    v("data", data, {},
      "folder of the MNIST files (mnist); where none is given, DRE_DATA/mnist of the environment");
    v("minutes", minutes, at_least(0),
      "training of a model by the clock (mnist); 0: as the experiment's figures need");
    v("only", only, {},
      "compute only cells whose name contains this; the others come from --out or "
      "--earlier");
    v("jobs", jobs, between(1, 1024),
      "cells computed at once, each with --threads or its share of the cores");
    v("device", device, {"auto", "cpu", "cuda"}, "where the networks live");
    processors.visit(v);
  }
};

int list(int argc, char** argv) {
  RunFlags run_flags;
  CLI::App app("Lists the experiments.", "dre experiment list");
  run_flags.add_format(app);
  if (parse(app, argc, argv)) return exit_fine;
  std::string lines;
  nlohmann::json json = nlohmann::json::array();
  for (const auto& [name, make] : experiment_table()) {
    const Description about = make()->describe();
    lines +=
        text(name, std::string(name.size() < 26 ? 26 - name.size() : 1, ' '), about.title, "\n");
    json.push_back({{"name", name}, {"title", about.title}, {"claim", about.claim}});
  }
  print_result(run_flags.format == "json" ? json.dump(2) + "\n" : lines);
  return exit_fine;
}

/// Quick runs and full ones leave their work side by side.
std::string with_size(const std::string& name, const ExperimentConfig& config) {
  return name + (config.quick ? "-quick" : "");
}

std::string command_line(const std::string& name, const ExperimentConfig& config) {
  std::string out = text("dre experiment run ", name, config.quick ? " --quick" : "");
  if (!config.data.empty()) out += " --data " + shell_word(config.data);
  if (!config.out.empty()) out += " --out " + shell_word(config.out);
  if (!config.earlier.empty()) out += " --earlier " + shell_word(config.earlier);
  if (!config.only.empty()) out += " --only " + shell_word(config.only);
  if (config.seeds > 0) out += text(" --seeds ", config.seeds);
  if (config.sweep) out += " --sweep";
  if (config.minutes > 0) out += text(" --minutes ", config.minutes);
  if (config.device != "auto") out += " --device " + config.device;
  if (config.processors.deterministic) out += " --deterministic";
  return out;
}

Written describe_run(const std::string& name, const Experiment& experiment,
                     const ExperimentConfig& config, const Settings& settings,
                     const RunReport& run) {
  Written out{
      name, experiment.describe(), experiment.summarise(settings, run.results), {}, run.failures};
  if (config.quick) out.description.title += " (quick run)";
  out.provenance = {
      {"command", command_line(name, config)},
      {"machine", join(std::vector<std::string>(run.machines.begin(), run.machines.end()), "; ")},
      {"version", text("dre ", version())},
      {"seeds", settings.seeds == 1 ? std::string("0") : text("0 to ", settings.seeds - 1)},
      {"cells", text(run.computed + run.reused, " of ",
                     run.computed + run.reused + run.missing + run.failures.size(), ", ",
                     report::number(run.seconds), " s of work together")}};
  return out;
}

/// An array with a line for each element.
std::string lines_of(const Json& array) {
  std::string out;
  for (const auto& element : array) out += text(out.empty() ? "[" : ",\n ", element.dump());
  return out.empty() ? "[]\n" : out + "]\n";
}

void write_folder(const std::string& base, const Written& result, const Json& cells, bool quiet) {
  write_result(base + ".html", report::to_html(to_page(result)));
  write_result(base + ".json", experiments::to_json(result).dump(2) + "\n");
  write_result(base + ".md", to_markdown(result));
  write_result(base + ".cells.json", lines_of(cells));
  if (!quiet) std::cerr << experiment_command << ": the page is " << base << ".html" << std::endl;
}

std::string in_format(const std::string& format, const Written& result) {
  if (format == "json") return experiments::to_json(result).dump(2) + "\n";
  return format == "markdown" ? to_markdown(result) : to_text(result);
}

Settings settings_of(const std::string& name, const Experiment& experiment,
                     const ExperimentConfig& config) {
  Settings settings;
  settings.size = config.quick ? Size::quick : Size::full;
  settings.sweep = config.sweep;
  const int64_t usual = config.quick ? 1 : experiment.describe().seeds;
  settings.seeds = config.seeds > 0 ? config.seeds : usual;
  settings.data = mnist_folder(config.data);
  settings.files = config.out.empty() ? "" : text(config.out, "/", with_size(name, config));
  settings.minutes = config.minutes;
  return settings;
}

int run(const std::string& name, const ExperimentConfig& config, const std::string& format,
        bool quiet) {
  const auto experiment = experiment_by_name(name);
  const Settings settings = settings_of(name, *experiment, config);
  config.processors.set_up_for_images();
  const std::string work = experiment->describe().work;
  const std::string cells =
      config.out.empty()
          ? ""
          : text(config.out, "/cells-", with_size(work.empty() ? name : work, config));
  ProgressBar progress(experiment_command, quiet);
  const StopSignals signals;
  const RunReport done = run_cells(
      *experiment, settings,
      {cells, config.only, config.device, config.jobs, config.processors.threads, config.earlier},
      progress);
  if (done.interrupted)
    return progress.interrupted(cells.empty() ? "nothing was kept: give --out FOLDER"
                                              : "the same command goes on with the next cell");
  const Written result = describe_run(name, *experiment, config, settings, done);
  if (!config.out.empty())
    write_folder(text(config.out, "/", with_size(name, config)), result, done.cells, quiet);
  print_result(in_format(format, result));
  return done.failures.empty() ? exit_fine : exit_numerical;
}

int run_one(int argc, char** argv) {
  std::string name, format = "text";
  ExperimentConfig config;
  RunFlags run_flags;
  CLI::App app("Runs an experiment of the paper and sets its figures beside ours.",
               experiment_command);
  app.add_option("name", name, text("experiment: ", join(names_of(experiment_table()))))
      ->type_name("NAME");
  Flags flags(app);
  config.visit(flags);
  run_flags.add_config(app);
  run_flags.add_quiet(app);
  app.add_option("--format", format, "form of the result: text, markdown, json [text]")
      ->type_name("NAME")
      ->check(CLI::IsMember({"text", "markdown", "json"}))
      ->group("Run");
  if (parse(app, argc, argv)) return exit_fine;
  check(!name.empty(), "no experiment; give one of ", join(names_of(experiment_table())));
  resolve(config, run_flags.config, flags.overrides());
  if (run_flags.print_config) {
    print_result(dre::to_json(config).dump(2) + "\n");
    return exit_fine;
  }
  return run(name, config, format, run_flags.quiet);
}

}  // namespace

int run_experiment(int argc, char** argv) {
  const std::string first = argc > 1 ? argv[1] : "";
  if (first == "list") return list(argc - 1, argv + 1);
  if (first == "run") return run_one(argc - 1, argv + 1);
  if (first == "--help" || first == "-h") {
    print_result(
        "dre experiment list                 the experiments of the paper\n"
        "dre experiment run NAME [--quick]   runs one: paper's figures beside ours, and a page\n\n"
        "'dre experiment run --help' lists the flags.\n");
    return exit_fine;
  }
  fail(Error::Kind::usage,
       first.empty() ? "no action is given" : text("there is no action ", shown(first)),
       "; write dre experiment list, or dre experiment run NAME");
}

}  // namespace dre::cli
