/// Time of one training step of energy models on images: the paper's U-Net by time score matching
/// and by the conditional objective, the residual U-Net by velocity moments.
/// image_step_eager.py beside this times the same step of time score matching by double backward in
/// eager PyTorch.
#include <ATen/Context.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <iostream>

#include "dre/apps/energy_fit.h"

namespace dre {
namespace {

struct Case {
  const char* objective;
  int64_t width, batch;
  bool half, graph;
};

/// Milliseconds a step, from the second half of the run: the first has the recording in it.
double step_milliseconds(const Case& c, const DensityPtr& noise, const Tensor& pixels,
                         int64_t steps, const Context& context) {
  EnergyFitOptions options;
  options.model.objective = c.objective;
  options.model.width = c.width;
  options.half = c.half;
  options.graph = c.graph;
  options.train.batch = c.batch;
  options.train.steps = 2 * steps;
  options.train.evaluate_every = steps;
  options.looks.rows = 4;
  options.looks.nodes = 2;
  options.looks.flow_steps = 1;
  EnergyModel model(noise, options.model, context);
  Progress silent;
  const auto looks = fit_energy(model, {pixels, pixels}, options, silent).looks;
  const double seconds = looks.back().training_seconds - looks.front().training_seconds;
  return 1000 * seconds / static_cast<double>(looks.back().step - looks.front().step);
}

void run(const Context& context, int64_t steps, const std::vector<Case>& cases) {
  auto generator = context.generator("pixels");
  const Tensor pixels =
      at::randint(0, 256, {4000, 784}, generator, torch::kInt64).to(torch::kUInt8);
  const DensityPtr noise = gaussian_noise(pixels, 1, context);
  std::puts("| objective | channels | batch | bfloat16 | graph | ms a step |");
  std::puts("|---|---|---|---|---|---|");
  for (const Case& c : cases) {
    const double ms = step_milliseconds(c, noise, pixels, steps, context);
    std::printf("| %s | %ld | %ld | %s | %s | %.2f |\n", c.objective, static_cast<long>(c.width),
                static_cast<long>(c.batch), c.half ? "yes" : "no", c.graph ? "yes" : "no", ms);
    std::fflush(stdout);
  }
}

}  // namespace
}  // namespace dre

int main(int argc, char** argv) {
  std::string device = "auto";
  int64_t steps = 50;
  bool quick = false;
  CLI::App app("Times training steps of energy models on images.", "image_step");
  app.add_option("--device", device, "auto, cpu, cuda");
  app.add_option("--steps", steps, "steps timed for each line");
  app.add_flag("--quick", quick, "small batches, for machines without CUDA");
  CLI11_PARSE(app, argc, argv);
  const dre::Context context{dre::device_by_name(device), torch::kFloat32, 0};
  at::globalContext().setBenchmarkCuDNN(true);
  std::vector<dre::Case> cases = {
      {"time", 64, 500, false, false},    {"time", 64, 500, false, true},
      {"time", 64, 500, true, true},      {"conditional", 64, 500, true, true},
      {"velocity", 32, 256, false, true}, {"velocity", 32, 256, true, true},
      {"velocity", 48, 256, true, true},  {"velocity", 64, 256, true, true},
      {"velocity", 96, 256, true, true},
  };
  if (quick) cases = {{"time", 64, 8, false, false}, {"velocity", 32, 8, false, false}};
  dre::run(context, steps, cases);
  return 0;
}
