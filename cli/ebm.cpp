/// dre ebm: energy-based models of images. fit, eval, sample.
#include <ATen/Parallel.h>

#include <fstream>
#include <iostream>

#include "cli/checkpoint.h"
#include "cli/command.h"
#include "cli/flags.h"
#include "cli/output.h"
#include "cli/progress_bar.h"
#include "cli/summary.h"
#include "dre/apps/energy_anneal.h"
#include "dre/apps/energy_fit.h"
#include "dre/base/names.h"
#include "dre/base/version.h"
#include "dre/data/mnist.h"
#include "dre/data/output.h"
#include "dre/density/density_file.h"

namespace dre::cli {
namespace {

/// What every action needs: where to work, and the random streams.
struct Place {
  int64_t seed = 0;
  std::string device = "auto";
  int64_t threads = 0;

  void visit(OptionVisitor& v) {
    v("seed", seed, at_least(0), "of every random draw");
    v("device", device, {"auto", "cpu", "cuda"}, "where to compute");
    v("threads", threads, at_least(0), "threads on the CPU; 0: one a core");
  }
  Context context() const {
    if (threads > 0) at::set_num_threads(static_cast<int>(threads));
    return {device_by_name(device), torch::kFloat32, static_cast<uint64_t>(seed)};
  }
};

/// Flags, configuration file and help of one action; nothing where the run ends with that.
template <class Config>
bool read_arguments(CLI::App& app, Config& config, RunFlags& run, int argc, char** argv) {
  Flags flags(app);
  config.visit(flags);
  run.add_config(app);
  run.add_format(app);
  run.add_quiet(app);
  if (parse(app, argc, argv)) return false;
  resolve(config, run.config, flags.overrides());
  if (run.print_config) print_result(to_json(config).dump(2) + "\n");
  return !run.print_config;
}

std::string bits_text(const Bits& bits) { return with_error(bits.value, bits.error); }

// dre ebm fit

struct FitConfig {
  std::string data, out;
  std::string noise = "gaussian";
  std::string noise_model;
  EnergyFitOptions fit;
  Place place;

  void visit(OptionVisitor& v) {
    v("data", data, {}, "folder of the MNIST files");
    v("out", out, {}, "model file to write, model.safetensors");
    v("noise", noise, density_names(), "noise model");
    v("noise-model", noise_model, {},
      "file of a fitted noise model; the Gaussian one is fitted here where none is given");
    fit.visit(v);
    place.visit(v);
  }
};

DensityPtr noise_of(const FitConfig& config, const MnistSplit& data, const Context& context) {
  if (config.noise_model.empty()) {
    check(config.noise == "gaussian", "--noise ", config.noise,
          " needs --noise-model FILE: fit one by 'dre flow fit'");
    return gaussian_noise(data.train, 2, context);
  }
  DensityPtr density = load_density(config.noise_model, context).density;
  check(density->name() == config.noise, config.noise_model, " holds a noise model '",
        density->name(), "'; give --noise ", density->name());
  return density;
}

/// One JSON object a line, as the fit runs; a fit that goes on appends.
class Log {
 public:
  Log(const std::string& path, bool append)
      : out_(path, append ? std::ios::app : std::ios::trunc) {}
  void add(const nlohmann::json& line) { out_ << line.dump() << std::endl; }

 private:
  std::ofstream out_;
};

nlohmann::json fit_record(const FitConfig& config, const EnergyFitResult& result,
                          const EnergyModel& model) {
  nlohmann::json looks = nlohmann::json::array();
  for (const auto& look : result.looks) looks.push_back(to_json(look));
  return {{"options", to_json(config.fit)},
          {"noise", config.noise},
          {"seed", config.place.seed},
          {"device", model.context().device.str()},
          {"parameters", model.network().parameters().count()},
          {"steps", result.steps},
          {"seconds", result.seconds},
          {"recorded_graph", result.recorded},
          {"correction", model.correction},
          {"looks", looks},
          {"torch_version", torch_version()}};
}

std::string fit_text(const nlohmann::json& record, const EnergyFitResult& result,
                     const std::string& out) {
  std::string lines =
      summary_line("parameters", record["parameters"].dump()) +
      summary_line("steps", text(result.steps, result.recorded ? ", replayed from a graph" : "")) +
      summary_line("seconds", short_number(result.seconds));
  if (!result.looks.empty()) {
    const EnergyReport& last = result.looks.back().report;
    lines += summary_line("validation", text("direct ", bits_text(last.direct), " bits, flow ",
                                             bits_text(last.flow)));
  }
  return lines + summary_line("model", out);
}

int fit(int argc, char** argv) {
  const char* const who = "dre ebm fit";
  FitConfig config;
  RunFlags run;
  bool resume = false;
  CLI::App app("Learns the density of images as a noise model times a learned ratio.", who);
  app.add_flag("--resume", resume, "go on from OUT.checkpoint of an interrupted fit");
  if (!read_arguments(app, config, run, argc, argv)) return exit_fine;
  check(!config.data.empty(), "--data DIR is missing: the folder of the MNIST files");
  check(!config.out.empty() && config.out != "-", "--out FILE is missing: the model to write");
  check_writable(config.out);
  const Context context = config.place.context();
  const MnistSplit data = load_mnist(config.data);
  ProgressBar progress(who, run.quiet);
  EnergyModel model(noise_of(config, data, context), config.fit.model, context);
  CheckpointFile checkpoint(config.out, to_json(config.fit), {{"noise", config.noise}});
  EnergyFitCalls calls;
  if (resume && checkpoint.exists()) calls.resume = checkpoint.load();
  Log log(config.out + ".log.jsonl", !calls.resume.empty());
  calls.look = [&](const EnergyLook& look) { log.add(to_json(look)); };
  calls.save = [&](const NamedTensors& state) { checkpoint.save(state); };
  const StopSignals signals;
  const EnergyFitResult result =
      fit_energy(model, {data.train, data.validation}, config.fit, progress, calls);
  check_data(result.finite, "the loss left the finite numbers at step ", result.steps,
             "; try a smaller --rate");
  const nlohmann::json record = fit_record(config, result, model);
  save_energy(config.out, model, record);
  if (result.interrupted) {
    std::cerr << who << ": interrupted; the model so far is in " << config.out
              << ", and the same command with --resume goes on" << std::endl;
    return exit_interrupted;
  }
  checkpoint.remove();
  print_result(run.format == "json" ? record.dump(2) + "\n" : fit_text(record, result, config.out));
  return exit_fine;
}

// dre ebm eval

struct EvalConfig {
  std::string model, data;
  std::string split = "test";
  EnergyEvaluateOptions evaluate;
  bool annealed = false;
  int64_t anneal_rows = 1000;
  AnnealOptions anneal;
  Place place;

  void visit(OptionVisitor& v) {
    v("model", model, {}, "model file of dre ebm fit");
    v("data", data, {}, "folder of the MNIST files");
    v("split", split, {"test", "validation", "train"}, "which images");
    evaluate.visit(v);
    v("anneal", annealed, "normaliser and likelihood by AIS and RAISE as well");
    v("anneal-rows", anneal_rows, at_least(2), "images for AIS and RAISE");
    anneal.visit(v);
    place.visit(v);
  }
};

std::string eval_text(const EnergyReport& report) {
  std::string lines = summary_line("images", text(report.rows)) +
                      summary_line("noise model", bits_text(report.noise)) +
                      summary_line("direct", bits_text(report.direct)) +
                      summary_line("corrected", text(bits_text(report.corrected), ", ",
                                                     report.direct_evaluations, " evaluations"));
  if (report.flow_evaluations > 0)
    lines += summary_line("flow, variance head", bits_text(report.flow_by_variance)) +
             summary_line("flow, exact", text(bits_text(report.flow), ", ", report.flow_evaluations,
                                              " evaluations")) +
             summary_line("disagreement", bits_text(report.disagreement));
  return lines + summary_line("100 log-ratios", text(short_number(report.direct_seconds), " s"));
}

std::string anneal_text(const EnergyAnnealReport& report) {
  return summary_line("AIS", text(bits_text(report.ais), ", acceptance ",
                                  short_number(report.ais_acceptance), ", effective chains ",
                                  short_number(report.effective_chains))) +
         summary_line("RAISE", text(bits_text(report.raise), ", acceptance ",
                                    short_number(report.raise_acceptance)));
}

Tensor split_of(const MnistSplit& data, const std::string& name) {
  return name == "test" ? data.test : name == "train" ? data.train : data.validation;
}

int eval(int argc, char** argv) {
  const char* const who = "dre ebm eval";
  EvalConfig config;
  RunFlags run;
  CLI::App app("Bits for each dimension of images, by a fitted energy model.", who);
  if (!read_arguments(app, config, run, argc, argv)) return exit_fine;
  check(!config.model.empty(), "--model FILE is missing: what dre ebm fit wrote");
  check(!config.data.empty(), "--data DIR is missing: the folder of the MNIST files");
  const Context context = config.place.context();
  const EnergyFile file = load_energy(config.model, context);
  const Tensor pixels = split_of(load_mnist(config.data), config.split).to(context.device);
  ProgressBar progress(who, run.quiet);
  const StopSignals signals;
  auto generator = context.device_generator("evaluation");
  const EnergyReport report =
      evaluate_energy(*file.model, pixels, config.evaluate, generator, progress);
  nlohmann::json json = to_json(report);
  std::string lines = eval_text(report);
  if (config.annealed) {
    EnergyEvaluateOptions options = config.evaluate;
    options.rows = config.anneal_rows;
    const EnergyAnnealReport annealed =
        anneal_energy(*file.model, pixels, options, config.anneal, generator, progress);
    json["annealed"] = to_json(annealed);
    lines += anneal_text(annealed);
  }
  print_result(run.format == "json" ? json.dump(2) + "\n" : lines);
  return exit_fine;
}

using Action = int (*)(int argc, char** argv);

const std::vector<Named<Action>>& actions() {
  static const std::vector<Named<Action>> table = {{"fit", fit}, {"eval", eval}};
  return table;
}

}  // namespace

int run_ebm(int argc, char** argv) {
  const std::string first = argc > 1 ? argv[1] : "";
  const std::string usage = text("dre ebm ", join(names_of(actions()), " | "),
                                 ": energy-based models of images; 'dre ebm fit --help' lists the "
                                 "flags of an action\n");
  if (first == "--help" || first == "-h") {
    print_result(usage);
    return exit_fine;
  }
  check(!first.empty(), "which action? ", join(names_of(actions())), "; see dre ebm --help");
  return choose("action", actions(), first)(argc - 1, argv + 1);
}

}  // namespace dre::cli
