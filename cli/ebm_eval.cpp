/// dre ebm eval: bits of images by a fitted energy model.
#include <cmath>

#include "cli/actions.h"
#include "cli/command.h"
#include "cli/ebm.h"
#include "cli/flow_data.h"
#include "cli/output.h"
#include "cli/progress_bar.h"
#include "cli/summary.h"
#include "dre/data/mnist.h"
#include "dre/energy/anneal.h"
#include "dre/energy/evaluate.h"
#include "dre/energy/flow.h"

namespace dre::cli {
namespace {

const char* const ebm_eval_command = "dre ebm eval";

struct EbmEvalConfig {
  std::string model, data;
  std::string split = "test";
  EnergyEvaluateOptions evaluate;
  bool annealed = false, anneal_doubled = true;
  int64_t anneal_rows = 1000;
  EnergyAnnealOptions anneal;
  Machine machine;

  void visit(OptionVisitor& v) {
    v("model", model, {}, "model file of dre ebm fit");
    v("data", data, {},
      "folder of the MNIST files; where none is given, DRE_DATA/mnist of the environment");
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

  /// What only the model's file tells.
  void check_model(const Flags& flags, const EnergyModel& energy) const {
    dre::check(has_flow(energy) || !flags.overrides().contains("flow-steps"),
               "--flow-steps does nothing: ", model, " was trained by the objective '",
               energy.options().objective, "' and has no flow; leave it out");
  }
};

std::string eval_text(const EnergyReport& report) {
  std::string lines =
      summary_line("images", text(report.rows, ", figures in bits per dimension")) +
      summary_line("noise model", with_error(report.noise)) +
      summary_line("direct",
                   text(with_error(report.direct),
                        ", which believes that the energy is normalised; --anneal tests it")) +
      summary_line("corrected",
                   text(with_error(report.corrected), ", ", report.direct_evaluations,
                        report.direct_evaluations == 1 ? " evaluation" : " evaluations"));
  if (std::isfinite(report.arc.value))
    lines += summary_line("along arcs", text(with_error(report.arc),
                                             ", from images to draws of N(0, I), where the scores "
                                             "were trained; not corrected"));
  if (report.flow_evaluations > 0)
    lines +=
        summary_line("direct, exact", text(with_error(report.direct_exact), ", not corrected")) +
        summary_line("flow, head", text(with_error(report.flow_by_variance),
                                        ", divergence by the variance head")) +
        summary_line("flow, exact", text(with_error(report.flow), ", exact divergence, ",
                                         report.flow_evaluations, " evaluations")) +
        summary_line("disagreement", with_error(report.disagreement));
  if (std::isfinite(report.noise_half.value))
    lines += summary_line("noise half",
                          text(with_error(report.noise_half),
                               ": bits of the noise model by the learned half, less its own"));
  if (report.direct_seconds)
    lines += summary_line("100 log-ratios", text(short_number(*report.direct_seconds), " s"));
  return lines;
}

std::string anneal_text(const EnergyAnnealReport& report) {
  return summary_line("temperatures", text(report.steps)) +
         summary_line("AIS", text(with_error(report.ais), ", a lower bound; log Z ",
                                  with_error(report.log_normaliser), " nats, acceptance ",
                                  short_number(report.ais_acceptance), ", ",
                                  short_number(report.effective_chains), " chains count")) +
         summary_line("RAISE", text(with_error(report.raise), ", about an upper bound; acceptance ",
                                    short_number(report.raise_acceptance)));
}

Tensor split_of(const MnistSplit& data, const std::string& name) {
  return name == "test" ? data.test : name == "train" ? data.train : data.validation;
}

bool all_finite(const EnergyReport& report) {
  const bool flow = report.flow_evaluations == 0 || std::isfinite(report.flow.value);
  return flow && std::isfinite(report.direct.value) && std::isfinite(report.corrected.value);
}

/// With n temperatures and, where that is wanted, with 2n, of images with the same noise by other
/// chains; the last may be unfinished.
std::vector<EnergyAnnealReport> anneal(const EbmEvalConfig& config, const EnergyModel& model,
                                       const Tensor& pixels, const Context& context,
                                       Progress& progress) {
  EnergyEvaluateOptions options = config.evaluate;
  options.rows = config.anneal_rows;
  EnergyAnnealOptions how = config.anneal;
  const size_t runs = config.anneal_doubled ? 2 : 1;
  std::vector<EnergyAnnealReport> found;
  while (found.size() < runs) {
    found.push_back(anneal_energy(model, pixels, options, how, context, progress));
    if (!found.back().finished) break;
    how.steps *= 2;
  }
  return found;
}

/// What eval shows, and whether all of it was measured and is a finite number.
struct Shown {
  nlohmann::json json;
  std::string lines;
  bool finished = true, finite = true;
};

void add_annealing(Shown& shown, const std::vector<EnergyAnnealReport>& found, int64_t dimension,
                   ProgressBar& progress) {
  shown.finished = found.back().finished;
  std::vector<Warning> warnings;
  for (size_t i = 0; i < found.size() && found[i].finished; ++i) {
    shown.lines += anneal_text(found[i]);
    shown.json[i == 0 ? "annealed" : "annealed_doubled"] = to_json(found[i]);
    shown.finite &= std::isfinite(found[i].ais.value) && std::isfinite(found[i].raise.value);
    warnings = judge_annealing(found[i], dimension);  // the slowest one says most
  }
  if (shown.finished && found.size() > 1)
    for (const Warning& more : judge_doubling(found[0], found[1], dimension))
      warnings.push_back(more);
  progress.warn(warnings);
  shown.json["warnings"] = warnings_json(warnings);
}

}  // namespace

int eval_ebm_action(int argc, char** argv) {
  EbmEvalConfig config;
  RunFlags run;
  CLI::App app("Bits for each dimension of images, by a fitted energy model.", ebm_eval_command);
  Flags flags(app);
  if (!read_arguments(app, flags, config, run, argc, argv)) return exit_fine;
  config.data = mnist_folder(config.data);
  config.check(flags);
  const Context context = config.machine.context();
  const EnergyFile file = load_energy(config.model, context);
  config.check_model(flags, *file.model);
  const Tensor all = split_of(load_mnist(config.data), config.split);
  const int64_t rows = config.evaluate.rows > 0 ? config.evaluate.rows : all.size(0);
  check(!config.annealed || rows >= 2, "--anneal needs two images or more; raise --rows");
  const Tensor pixels = all.slice(0, 0, rows).to(context.device);
  ProgressBar progress(ebm_eval_command, run.quiet);
  const StopSignals signals;
  auto generator = context.device_generator("evaluation");
  const EnergyReport report =
      evaluate_energy(*file.model, pixels, config.evaluate, generator, progress);
  if (!report.finished) return progress.interrupted("nothing was measured to its end");
  Shown shown{to_json(report), eval_text(report), true, all_finite(report)};
  if (config.annealed)
    add_annealing(shown, anneal(config, *file.model, pixels, context, progress),
                  file.model->dimension(), progress);
  print_result(run.format == "json" ? shown.json.dump(2) + "\n" : shown.lines);
  if (!shown.finished)
    return progress.interrupted("the annealing did not end; what was measured is shown");
  if (!shown.finite)
    fail(Error::Kind::numerical, "a figure of ", config.model, " is not a finite number");
  return exit_fine;
}

}  // namespace dre::cli
