/// dre ebm: energy-based models of images. fit, eval, sample.
#include <algorithm>
#include <cmath>
#include <fstream>
#include <iostream>
#include <optional>

#include "cli/actions.h"
#include "cli/checkpoint.h"
#include "cli/command.h"
#include "cli/progress_bar.h"
#include "cli/summary.h"
#include "dre/apps/energy_anneal.h"
#include "dre/apps/energy_fit.h"
#include "dre/base/version.h"
#include "dre/data/checksum.h"
#include "dre/data/mnist.h"
#include "dre/data/output.h"
#include "dre/data/png.h"
#include "dre/density/density_file.h"

namespace dre::cli {
namespace {

template <class Config>
bool read(CLI::App& app, Config& config, RunFlags& run, int argc, char** argv) {
  Flags flags(app);
  return read_arguments(app, flags, config, run, argc, argv);
}

std::string bits_text(const Bits& bits) { return with_error(bits.value, bits.error); }

void write_grid(const std::string& path, const Tensor& pixels, int64_t columns) {
  const auto side = static_cast<int64_t>(std::lround(std::sqrt(pixels.size(1))));
  save_png(path, image_grid(pixels, side, columns));
}

// dre ebm fit

struct FitConfig {
  std::string data, out;
  std::string noise = "gaussian";
  std::string noise_model;
  EnergyFitOptions fit;
  Machine machine;

  void visit(OptionVisitor& v) {
    v("data", data, {}, "folder of the MNIST files");
    v("out", out, {}, "model file to write, model.safetensors");
    v("noise", noise, density_names(), "noise model");
    v("noise-model", noise_model, {},
      "file of a fitted noise model; the Gaussian one is fitted here where none is given");
    fit.visit(v);
    machine.visit(v);
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

/// What a fit that goes on must find as it was.
nlohmann::json origin(const FitConfig& config, const MnistSplit& data) {
  const std::string& file = config.noise_model;
  return {{"noise", config.noise},
          {"noise_model", file.empty() ? "" : file_checksum(file)},
          {"images", tensor_checksum(data.train)},
          {"seed", config.machine.seed}};
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

nlohmann::json fit_record(const FitConfig& config, const EnergyFitResult& result,
                          const EnergyModel& model, const nlohmann::json& looks) {
  return {{"options", to_json(config.fit)},
          {"noise", config.noise},
          {"seed", config.machine.seed},
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
    const bool flow = last.flow_evaluations > 0;
    lines += summary_line("validation", text("direct ", bits_text(last.direct), " bits",
                                             flow ? ", flow " + bits_text(last.flow) : ""));
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
  if (!read(app, config, run, argc, argv)) return exit_fine;
  check(!config.data.empty(), "--data DIR is missing: the folder of the MNIST files");
  check(!config.out.empty() && config.out != "-", "--out FILE is missing: the model to write");
  config.fit.check();
  const std::string log_path = config.out + ".log.jsonl", grid = config.out + ".samples.png";
  check_outputs({config.out, log_path, grid, config.out + ".checkpoint"}, {config.noise_model});
  const Context context = config.machine.context();
  const MnistSplit data = load_mnist(config.data);
  ProgressBar progress(who, run.quiet);
  const DensityPtr frame = energy_frame(config.fit.model, data.train, context);
  EnergyModel model(noise_of(config, data, context), config.fit.model, context, frame);
  CheckpointFile checkpoint(config.out, to_json(config.fit), origin(config, data));
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
  if (result.interrupted) {
    std::cerr << who << ": interrupted; the state is in " << checkpoint.path()
              << "; the same command with --resume goes on from it" << std::endl;
    return exit_interrupted;
  }
  const nlohmann::json record = fit_record(config, result, model, log.looks());
  save_energy(config.out, model, record);
  checkpoint.remove();
  print_result(run.format == "json" ? record.dump(2) + "\n" : fit_text(record, result, config.out));
  return exit_fine;
}

// dre ebm eval

struct EvalConfig {
  std::string model, data;
  std::string split = "test";
  EnergyEvaluateOptions evaluate;
  bool annealed = false, anneal_doubled = true;
  int64_t anneal_rows = 1000;
  EnergyAnnealOptions anneal;
  Machine machine;

  void visit(OptionVisitor& v) {
    v("model", model, {}, "model file of dre ebm fit");
    v("data", data, {}, "folder of the MNIST files");
    v("split", split, {"test", "validation", "train"}, "which images");
    evaluate.visit(v);
    v("anneal", annealed,
      "bounds on the bits of the energy, corrected and normalised, by AIS (lower) and RAISE (about "
      "upper) as well");
    v("anneal-doubled", anneal_doubled,
      "and by twice as many temperatures: where that changes much, they are too few");
    v("anneal-rows", anneal_rows, at_least(2), "images that RAISE anneals backwards");
    anneal.visit(v);
    machine.visit(v);
  }
};

std::string eval_text(const EnergyReport& report) {
  std::string lines =
      summary_line("images", text(report.rows)) +
      summary_line("noise model", bits_text(report.noise)) +
      summary_line("direct",
                   text(bits_text(report.direct),
                        ", which believes that the energy is normalised; --anneal tests it")) +
      summary_line("corrected", text(bits_text(report.corrected), ", ", report.direct_evaluations,
                                     " evaluations"));
  if (report.flow_evaluations > 0)
    lines += summary_line("flow, variance head", bits_text(report.flow_by_variance)) +
             summary_line("flow, exact", text(bits_text(report.flow), ", ", report.flow_evaluations,
                                              " evaluations")) +
             summary_line("disagreement", bits_text(report.disagreement));
  if (std::isfinite(report.noise_half.value))
    lines += summary_line("noise half",
                          text(bits_text(report.noise_half),
                               ": bits of the noise model by the learned half, less its own"));
  if (report.direct_seconds)
    lines += summary_line("100 log-ratios", text(short_number(*report.direct_seconds), " s"));
  return lines;
}

std::string anneal_text(const EnergyAnnealReport& report) {
  return summary_line("temperatures", text(report.steps)) +
         summary_line("AIS", text(bits_text(report.ais), ", a lower bound; log Z ",
                                  with_error(report.log_normaliser, report.log_normaliser_error),
                                  ", acceptance ", short_number(report.ais_acceptance), ", ",
                                  short_number(report.effective_chains), " chains count")) +
         summary_line("RAISE", text(bits_text(report.raise), ", about an upper bound; acceptance ",
                                    short_number(report.raise_acceptance)));
}

Tensor split_of(const MnistSplit& data, const std::string& name) {
  return name == "test" ? data.test : name == "train" ? data.train : data.validation;
}

int interrupted(const char* who, const char* left = "nothing was measured to its end") {
  std::cerr << who << ": interrupted; " << left << std::endl;
  return exit_interrupted;
}

int eval(int argc, char** argv) {
  const char* const who = "dre ebm eval";
  EvalConfig config;
  RunFlags run;
  CLI::App app("Bits for each dimension of images, by a fitted energy model.", who);
  if (!read(app, config, run, argc, argv)) return exit_fine;
  check(!config.model.empty(), "--model FILE is missing: what dre ebm fit wrote");
  check(!config.data.empty(), "--data DIR is missing: the folder of the MNIST files");
  const Context context = config.machine.context();
  const EnergyFile file = load_energy(config.model, context);
  const Tensor all = split_of(load_mnist(config.data), config.split);
  const int64_t rows = config.evaluate.rows > 0 ? config.evaluate.rows : all.size(0);
  const Tensor pixels = all.slice(0, 0, rows).to(context.device);
  ProgressBar progress(who, run.quiet);
  const StopSignals signals;
  auto generator = context.device_generator("evaluation");
  const EnergyReport report =
      evaluate_energy(*file.model, pixels, config.evaluate, generator, progress);
  if (!report.finished) return interrupted(who);
  nlohmann::json json = to_json(report);
  std::string lines = eval_text(report);
  if (config.annealed) {
    EnergyEvaluateOptions options = config.evaluate;
    options.rows = config.anneal_rows;
    const auto anneal = [&](const EnergyAnnealOptions& how) {
      return anneal_energy(*file.model, pixels, options, how, generator, progress);
    };
    std::vector<EnergyAnnealReport> found;
    if (config.anneal_doubled) {
      auto both = doubled(config.anneal, anneal);
      found = {std::move(both.once), std::move(both.twice)};
    } else {
      found = {anneal(config.anneal)};
    }
    if (!found.back().finished) return interrupted(who);
    for (const auto& report : found) lines += anneal_text(report);
    const auto warnings = judge_annealing(found.back(), file.model->dimension());
    for (const auto& [code, message] : warnings) progress.warn(code, message);
    json["warnings"] = warnings_json(warnings);
    json["annealed"] = to_json(found.front());
    if (config.anneal_doubled) json["annealed_doubled"] = to_json(found.back());
  }
  print_result(run.format == "json" ? json.dump(2) + "\n" : lines);
  return exit_fine;
}

// dre ebm sample

struct SampleConfig {
  std::string model, out;
  std::string by = "flow";
  int64_t count = 100;
  int64_t columns = 10;
  EnergyEvaluateOptions evaluate;
  EnergyAnnealOptions anneal;
  Machine machine;

  void visit(OptionVisitor& v) {
    v("model", model, {}, "model file of dre ebm fit");
    v("out", out, {}, "image file to write, samples.png");
    v("by", by, {"flow", "ais"},
      "from noise to data by the learned flow, or by annealed Hamiltonian Monte Carlo");
    v("count", count, at_least(1), "images to draw");
    v("columns", columns, at_least(1), "images in a row of the grid");
    v("nodes", evaluate.nodes, between(2, 200),
      "nodes of the integral over time, between images on each side (ais)");
    v("flow-steps", evaluate.flow_steps, at_least(1),
      "Runge-Kutta steps, between images on each side (flow)");
    v("anneal-steps", anneal.steps, at_least(1), "temperatures (ais)");
    v("leapfrogs", anneal.leapfrogs, at_least(1), "leapfrog steps of a transition (ais)");
    v("pilot-steps", anneal.pilot_steps, at_least(1),
      "temperatures of the pilot run; each takes 5 to 30 transitions (ais)");
    v("anneal-path", anneal.path, EnergyAnnealOptions::paths(),
      "densities that the model has learned over time, or powers of the ratio; auto: time where "
      "the model has a time score and its bridge is not between images (ais)");
    machine.visit(v);
  }
};

/// Nothing where a stop was asked for.
std::optional<Tensor> annealed_samples(const EnergyModel& model, SampleConfig config,
                                       at::Generator& generator, Progress& progress) {
  const torch::NoGradGuard no_grad;
  const auto where = model.context().options();
  config.anneal.chains = std::max<int64_t>(2, config.count);
  const auto tilt = make_tilt(model, config.evaluate, config.anneal);
  const Route route =
      pilot_run(*tilt, model.dimension(), config.anneal, where, generator, progress);
  const AisResult result =
      ais(*tilt, model.dimension(), route, config.anneal, where, generator, progress);
  if (!result.finished) return std::nullopt;
  return model.space().of_latent(result.points.slice(0, 0, config.count));
}

int sample(int argc, char** argv) {
  const char* const who = "dre ebm sample";
  SampleConfig config;
  RunFlags run;
  CLI::App app("Draws images from a fitted energy model.", who);
  if (!read(app, config, run, argc, argv)) return exit_fine;
  check(!config.model.empty(), "--model FILE is missing: what dre ebm fit wrote");
  check(!config.out.empty(), "--out FILE is missing: the image to write, samples.png");
  check_outputs({config.out}, {config.model});
  const Context context = config.machine.context();
  const EnergyFile file = load_energy(config.model, context);
  ProgressBar progress(who, run.quiet);
  const StopSignals signals;
  auto generator = context.device_generator("samples");
  const std::optional<Tensor> y =
      config.by == "flow"
          ? flow_samples(*file.model, config.count, config.evaluate.flow_steps, generator)
          : annealed_samples(*file.model, config, generator, progress);
  if (!y) return interrupted(who, "no image was written");
  write_grid(config.out, energy_pixels(*file.model, *y), config.columns);
  return exit_fine;
}

}  // namespace

int run_ebm(int argc, char** argv) {
  return run_action("dre ebm", "energy-based models of images",
                    {{"fit", fit}, {"eval", eval}, {"sample", sample}}, argc, argv);
}

}  // namespace dre::cli
