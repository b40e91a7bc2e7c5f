/// dre ebm fit: the density of images as a noise model times a learned ratio.
#include <ATen/Parallel.h>

#include <fstream>

#include "cli/actions.h"
#include "cli/checkpoint.h"
#include "cli/command.h"
#include "cli/ebm.h"
#include "cli/flow_data.h"
#include "cli/progress_bar.h"
#include "cli/summary.h"
#include "dre/base/version.h"
#include "dre/data/checksum.h"
#include "dre/data/mnist.h"
#include "dre/data/output.h"
#include "dre/density/density_file.h"
#include "dre/energy/fit.h"
#include "dre/energy/noise.h"

namespace dre::cli {
namespace {

const char* const ebm_fit_command = "dre ebm fit";

struct EbmFitConfig {
  std::string data, out;
  std::string noise = "gaussian";
  std::string noise_model;
  EnergyFitOptions fit;
  Machine machine;

  void visit(OptionVisitor& v) {
    v("data", data, {},
      "folder of the MNIST files; where none is given, DRE_DATA/mnist of the environment");
    v("out", out, {}, "model file to write, model.safetensors");
    v("noise", noise, density_names(), "noise model");
    v("noise-model", noise_model, {},
      "file of a fitted noise model; the Gaussian one is fitted here where none is given");
    fit.visit(v);
    machine.visit(v);
  }

  void check(const Flags& flags) const {
    dre::check(!data.empty(), "--data DIR is missing: the folder of the MNIST files");
    dre::check(!out.empty() && out != "-", "--out FILE is missing: the model to write");
    fit.check();
    const std::string& objective = fit.model.objective;
    if (objective != "velocity")
      flags.refuse({"levels", "blocks", "pixel-head"}, "--objective velocity");
    if (objective != "velocity" && fit.look_anneal_steps == 0)
      flags.refuse({"look-samples"}, "--objective velocity or --look-anneal-steps");
    if (objective != "tre") flags.refuse({"bridges", "waymarks"}, "--objective tre");
  }
};

DensityPtr noise_of(const EbmFitConfig& config, const MnistSplit& data, const Context& context) {
  if (config.noise_model.empty()) {
    check(config.noise == "gaussian", "--noise ", config.noise,
          " needs --noise-model FILE: fit one by 'dre flow fit'");
    return gaussian_noise(data.train, 2, context);
  }
  DensityPtr density = load_density(config.noise_model, context).density;
  check(density->name() == config.noise, config.noise_model, " holds a noise model '",
        density->name(), "'; give --noise ", density->name());
  check_data(density->dimension() == data.train.size(1), config.noise_model, " is a density of ",
             density->dimension(), " columns, and the images have ", data.train.size(1),
             " pixels; fit one by 'dre flow fit --data'");
  return density;
}

/// Options that a fit which goes on must have again.
nlohmann::json deciding(const EbmFitConfig& config) {
  nlohmann::json options = to_json(config.fit);
  options.update({{"noise", config.noise}, {"seed", config.machine.seed}});
  options.erase("look-anneal-steps");  // looks draw from a stream of their own
  return options;
}

/// What a fit that goes on must find as it was.
nlohmann::json origin_of(const EbmFitConfig& config, const MnistSplit& data) {
  const std::string& file = config.noise_model;
  return {{"noise_model", file.empty() ? "" : file_checksum(file)},
          {"images", tensor_checksum(data.train)}};
}

/// The looks of a fit, one JSON object a line, as it runs. A fit that goes on from `steps` keeps
/// those of the steps before.
class Log {
 public:
  Log(const std::string& path, int64_t steps) : path_(path) {
    std::ifstream before(path);
    for (std::string line; steps > 0 && std::getline(before, line);) {
      const nlohmann::json look = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
      if (look.is_object() && look.value("step", steps + 1) <= steps) looks_.push_back(look);
    }
    std::string kept;
    for (const auto& look : looks_) kept += look.dump() + "\n";
    write_result(path, kept);
    out_.open(path, std::ios::app);
  }

  void add(const EnergyLook& look) {
    looks_.push_back(to_json(look));
    out_ << looks_.back().dump() << std::endl;
    check_data(out_.good(), "cannot write ", path_, "; is the disk full?");
  }

  const nlohmann::json& looks() const { return looks_; }

 private:
  std::string path_;
  std::ofstream out_;
  nlohmann::json looks_ = nlohmann::json::array();
};

/// What is kept with the model: nothing of the clock, so that the same fit has the same bytes.
nlohmann::json fit_record(const EbmFitConfig& config, const nlohmann::json& origin,
                          const EnergyFitResult& result, const EnergyModel& model,
                          nlohmann::json looks) {
  for (auto& look : looks) {
    for (const char* clock : {"seconds", "training_seconds"}) look.erase(clock);
    look["validation"].erase("seconds_for_100_ratios");
  }
  return {{"options", to_json(config.fit)},
          {"noise", config.noise},
          {"origin", origin},
          {"seed", config.machine.seed},
          {"device", model.context().device.str()},
          {"threads", at::get_num_threads()},
          {"deterministic", config.machine.processors.deterministic},
          {"parameters", model.network().parameters().count()},
          {"steps", result.steps},
          {"correction", to_json(model.correction)},
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
    const bool flow = last.flow_evaluations > 0;
    lines += summary_line("validation", text("direct ", with_error(last.direct), " bits",
                                             flow ? ", flow " + with_error(last.flow) : ""));
  }
  return lines + summary_line("model", out);
}

}  // namespace

int fit_ebm_action(int argc, char** argv) {
  EbmFitConfig config;
  RunFlags run;
  bool resume = false;
  CLI::App app("Learns the density of images as a noise model times a learned ratio.",
               ebm_fit_command);
  app.add_flag("--resume", resume, "go on from OUT.checkpoint of an interrupted fit");
  Flags flags(app);
  if (!read_arguments(app, flags, config, run, argc, argv)) return exit_fine;
  config.data = mnist_folder(config.data);
  config.check(flags);
  const std::string log_path = config.out + ".log.jsonl", grid = config.out + ".samples.png";
  check_outputs({config.out, log_path, grid, config.out + ".checkpoint"}, {config.noise_model});
  const Context context = config.machine.context();
  const MnistSplit data = load_mnist(config.data);
  ProgressBar progress(ebm_fit_command, run.quiet);
  const DensityPtr frame = energy_frame(config.fit.model, data.train, context);
  EnergyModel model(noise_of(config, data, context), config.fit.model, context, frame);
  const nlohmann::json origin = origin_of(config, data);
  CheckpointFile checkpoint(config.out, deciding(config), origin, {log_path, grid});
  EnergyFitCalls calls;
  calls.resume = checkpoint.start(resume, progress);
  Log log(log_path, calls.resume.empty() ? 0 : at(calls.resume, "steps").item<int64_t>());
  calls.look = [&](const EnergyLook& look) {
    log.add(look);
    if (look.samples.defined()) write_grid(grid, look.samples, 6);
  };
  calls.save = [&](const NamedTensors& state) { checkpoint.save(state); };
  const StopSignals signals;
  const EnergyFitResult result =
      fit_energy(model, {data.train, data.validation}, config.fit, progress, calls);
  if (!result.finite)
    fail(Error::Kind::numerical, "the loss left the finite numbers at step ", result.steps,
         "; try a smaller --rate");
  if (result.interrupted) return progress.interrupted(checkpoint.where_it_stands());
  nlohmann::json record = fit_record(config, origin, result, model, log.looks());
  save_energy(config.out, model, record);
  checkpoint.remove();
  record["seconds"] = result.seconds;
  record["recorded_graph"] = result.recorded;
  record["looks"] = log.looks();
  print_result(run.format == "json" ? record.dump(2) + "\n" : fit_text(record, result, config.out));
  return exit_fine;
}

}  // namespace dre::cli
