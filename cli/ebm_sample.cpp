/// dre ebm sample: a grid of images by a fitted energy model.
#include <optional>

#include "cli/actions.h"
#include "cli/command.h"
#include "cli/ebm.h"
#include "cli/output.h"
#include "cli/progress_bar.h"
#include "cli/summary.h"
#include "dre/data/output.h"
#include "dre/data/source.h"
#include "dre/energy/anneal.h"
#include "dre/energy/evaluate.h"
#include "dre/energy/flow.h"

namespace dre::cli {
namespace {

const char* const ebm_sample_command = "dre ebm sample";

struct EbmSampleConfig {
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

struct Drawn {
  std::optional<Tensor> y;  ///< in the model's space; nothing where a stop was asked for
  std::optional<AnnealedSamples> chains;  ///< where they drew
};

Drawn draw(const EnergyModel& model, const EbmSampleConfig& config, at::Generator& generator,
           Progress& progress) {
  if (config.by == "flow")
    return {flow_samples(model, config.count, config.evaluate.flow_steps, generator, progress), {}};
  const AnnealedSamples found =
      annealed_samples(model, config.count, config.evaluate, config.anneal, generator, progress);
  return found.finished ? Drawn{found.points, found} : Drawn{};
}

std::string sample_text(const Drawn& drawn, const EbmSampleConfig& config) {
  std::string lines;
  if (const auto& chains = drawn.chains)
    lines = summary_line(
                "chains",
                text(chains->chains, ", of which ", short_number(chains->effective_chains),
                     " count by their weights; acceptance ", short_number(chains->acceptance))) +
            summary_line("log Z", text(with_error(chains->log_normaliser), " nats"));
  return lines + summary_line("images", text(config.count)) + summary_line("file", config.out);
}

nlohmann::json sample_json(const Drawn& drawn, const EbmSampleConfig& config) {
  nlohmann::json json = drawn.chains ? to_json(*drawn.chains) : nlohmann::json::object();
  json.update({{"images", config.count}, {"file", config.out}});
  return json;
}

}  // namespace

int sample_ebm_action(int argc, char** argv) {
  EbmSampleConfig config;
  RunFlags run;
  CLI::App app("Draws images from a fitted energy model.", ebm_sample_command);
  Flags flags(app);
  if (!read_arguments(app, flags, config, run, argc, argv)) return exit_fine;
  config.check(flags);
  check_outputs({config.out}, {config.model});
  const Context context = config.machine.context();
  const EnergyFile file = load_energy(config.model, context);
  check(config.by != "flow" || has_flow(*file.model), config.model,
        " was trained by the objective '", file.model->options().objective,
        "' and has no flow; --by ais draws from it");
  ProgressBar progress(ebm_sample_command, run.quiet);
  const StopSignals signals;
  auto generator = context.device_generator("samples");
  const Drawn drawn = draw(*file.model, config, generator, progress);
  if (!drawn.y) return progress.interrupted("no image was written");
  if (!at::isfinite(*drawn.y).all().item<bool>())
    fail(Error::Kind::numerical, config.model, " gives no finite images; nothing was written");
  write_grid(config.out, energy_pixels(*file.model, *drawn.y), config.columns);
  print_result(run.format == "json" ? sample_json(drawn, config).dump(2) + "\n"
                                    : sample_text(drawn, config));
  return exit_fine;
}

}  // namespace dre::cli
