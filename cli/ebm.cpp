/// dre ebm: energy-based models of images. fit, eval, sample.
#include "cli/ebm.h"

#include <algorithm>
#include <cmath>
#include <iostream>
#include <optional>

#include "cli/actions.h"
#include "cli/command.h"
#include "cli/progress_bar.h"
#include "cli/summary.h"
#include "dre/apps/energy_anneal.h"
#include "dre/apps/energy_flow.h"
#include "dre/data/mnist.h"
#include "dre/data/output.h"
#include "dre/data/png.h"
#include "dre/data/source.h"

namespace dre::cli {
namespace {

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

  void check(const Flags& flags) {
    dre::check(!model.empty(), "--model FILE is missing: what dre ebm fit wrote");
    dre::check(!data.empty(), "--data DIR is missing: the folder of the MNIST files");
    if (annealed) return;
    Names idle = {"anneal-doubled", "anneal-rows", "graph"};
    const nlohmann::json options = to_json(anneal);
    for (const auto& option : options.items()) idle.push_back(option.key());
    flags.refuse(idle, "--anneal");
  }
};

std::string eval_text(const EnergyReport& report) {
  std::string lines =
      summary_line("images", text(report.rows)) +
      summary_line("noise model", bits_text(report.noise)) +
      summary_line("direct",
                   text(bits_text(report.direct),
                        ", which believes that the energy is normalised; --anneal tests it")) +
      summary_line("corrected",
                   text(bits_text(report.corrected), ", ", report.direct_evaluations,
                        report.direct_evaluations == 1 ? " evaluation" : " evaluations"));
  if (report.flow_evaluations > 0)
    lines += summary_line("direct, exact divergence",
                          text(bits_text(report.direct_exact), ", not corrected")) +
             summary_line("flow, variance head", bits_text(report.flow_by_variance)) +
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

int interrupted(const char* who, const char* left) {
  std::cerr << who << ": interrupted; " << left << std::endl;
  return exit_interrupted;
}

bool all_finite(const EnergyReport& report) {
  const bool flow = report.flow_evaluations == 0 || std::isfinite(report.flow.value);
  return flow && std::isfinite(report.direct.value) && std::isfinite(report.corrected.value);
}

/// With n temperatures and, where that is wanted, with 2n; the last may be unfinished.
std::vector<EnergyAnnealReport> anneal(const EvalConfig& config, const EnergyModel& model,
                                       const Tensor& pixels, at::Generator& generator,
                                       Progress& progress) {
  EnergyEvaluateOptions options = config.evaluate;
  options.rows = config.anneal_rows;
  EnergyAnnealOptions how = config.anneal;
  const size_t runs = config.anneal_doubled ? 2 : 1;
  std::vector<EnergyAnnealReport> found;
  while (found.size() < runs) {
    found.push_back(anneal_energy(model, pixels, options, how, generator, progress));
    if (!found.back().finished) break;
    how.steps *= 2;
  }
  return found;
}

/// What eval shows, and whether all of it was measured and is a finite number.
struct Measured {
  nlohmann::json json;
  std::string lines;
  bool finished = true, finite = true;
};

void add_annealing(Measured& measured, const std::vector<EnergyAnnealReport>& found,
                   int64_t dimension, Progress& progress) {
  measured.finished = found.back().finished;
  for (size_t i = 0; i < found.size() && found[i].finished; ++i) {
    measured.lines += anneal_text(found[i]);
    measured.json[i == 0 ? "annealed" : "annealed_doubled"] = to_json(found[i]);
    measured.finite &= std::isfinite(found[i].ais.value) && std::isfinite(found[i].raise.value);
  }
  const auto warnings =
      measured.finished ? judge_annealing(found.back(), dimension) : std::vector<Warning>();
  for (const auto& [code, message] : warnings) progress.warn(code, message);
  measured.json["warnings"] = warnings_json(warnings);
}

int eval(int argc, char** argv) {
  const char* const who = "dre ebm eval";
  EvalConfig config;
  RunFlags run;
  CLI::App app("Bits for each dimension of images, by a fitted energy model.", who);
  Flags flags(app);
  if (!read_arguments(app, flags, config, run, argc, argv)) return exit_fine;
  config.check(flags);
  const Context context = config.machine.context();
  const EnergyFile file = load_energy(config.model, context);
  const Tensor all = split_of(load_mnist(config.data), config.split);
  const int64_t rows = config.evaluate.rows > 0 ? config.evaluate.rows : all.size(0);
  check(!config.annealed || rows >= 2, "--anneal needs two images or more; raise --rows");
  const Tensor pixels = all.slice(0, 0, rows).to(context.device);
  ProgressBar progress(who, run.quiet);
  const StopSignals signals;
  auto generator = context.device_generator("evaluation");
  const EnergyReport report =
      evaluate_energy(*file.model, pixels, config.evaluate, generator, progress);
  if (!report.finished) return interrupted(who, "nothing was measured to its end");
  Measured measured{to_json(report), eval_text(report), true, all_finite(report)};
  if (config.annealed)
    add_annealing(measured, anneal(config, *file.model, pixels, generator, progress),
                  file.model->dimension(), progress);
  print_result(run.format == "json" ? measured.json.dump(2) + "\n" : measured.lines);
  if (!measured.finished)
    return interrupted(who, "the annealing did not end; what was measured is shown");
  if (!measured.finite)
    fail(Error::Kind::numerical, "a figure of ", config.model, " is not a finite number");
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

  void check(const Flags& flags) const {
    dre::check(!model.empty(), "--model FILE is missing: what dre ebm fit wrote");
    dre::check(!out.empty(), "--out FILE is missing: the image to write, samples.png");
    dre::check(has_ending(out, ".png"), "--out ", out, " must end in .png: a grid of images");
    if (by == "flow")
      flags.refuse({"nodes", "anneal-steps", "leapfrogs", "pilot-steps", "anneal-path"},
                   "--by ais");
    else
      flags.refuse({"flow-steps"}, "--by flow");
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
  Flags flags(app);
  if (!read_arguments(app, flags, config, run, argc, argv)) return exit_fine;
  config.check(flags);
  check_outputs({config.out}, {config.model});
  const Context context = config.machine.context();
  const EnergyFile file = load_energy(config.model, context);
  check(config.by != "flow" || has_flow(*file.model), config.model,
        " was trained by the objective '", file.model->options().objective,
        "' and has no flow; --by ais draws from it");
  ProgressBar progress(who, run.quiet);
  const StopSignals signals;
  auto generator = context.device_generator("samples");
  const std::optional<Tensor> y =
      config.by == "flow"
          ? flow_samples(*file.model, config.count, config.evaluate.flow_steps, generator, progress)
          : annealed_samples(*file.model, config, generator, progress);
  if (!y) return interrupted(who, "no image was written");
  if (!at::isfinite(*y).all().item<bool>())
    fail(Error::Kind::numerical, config.model, " gives no finite images; nothing was written");
  write_grid(config.out, energy_pixels(*file.model, *y), config.columns);
  return exit_fine;
}

}  // namespace

std::string bits_text(const Bits& bits) { return with_error(bits.value, bits.error); }

void write_grid(const std::string& path, const Tensor& pixels, int64_t columns) {
  const auto side = static_cast<int64_t>(std::lround(std::sqrt(pixels.size(1))));
  save_png(path, image_grid(pixels, side, columns));
}

int run_ebm(int argc, char** argv) {
  return run_action("dre ebm", "energy-based models of images",
                    {{"fit", fit_ebm_action}, {"eval", eval}, {"sample", sample}}, argc, argv);
}

}  // namespace dre::cli
