/// Time of one training step of energy models on images: the paper's U-Net by time score matching
/// and by the conditional objective, the residual U-Net by velocity moments.
/// image_step_eager.py beside this times the same step of time score matching with the paper's
/// boundary terms by double backward in eager PyTorch; "pathwise" is another form of the same loss,
/// whose derivative is along the path and which needs no rows at the ends.
///
/// "memory bound" is what the step would take if all it did were to write every tensor that it
/// makes once and to read it once, at the speed at which this device copies.
#include <ATen/Context.h>
#ifdef DRE_WITH_CUDA
#include <c10/cuda/CUDACachingAllocator.h>
#endif

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <iostream>

#include "dre/energy/fit.h"
#include "dre/energy/noise.h"

namespace dre {
namespace {

struct Case {
  const char* objective;
  int64_t width, batch;
  bool half, graph;
  const char* matching = "pathwise";
};

struct Images {
  Tensor pixels;
  DensityPtr noise;
  Context context;
};

/// Two looks, `steps` steps apart.
std::vector<EnergyLook> two_looks(const Case& c, const Images& images, int64_t steps) {
  EnergyFitOptions options;
  options.model.objective = c.objective;
  options.model.width = c.width;
  options.matching = c.matching;
  options.half = c.half;
  options.graph = c.graph;
  options.train.batch = c.batch;
  options.train.steps = 2 * steps;
  options.train.evaluate_every = steps;
  options.looks.rows = 4;
  options.looks.nodes = 2;
  options.looks.flow_steps = 1;
  EnergyModel model(images.noise, options.model, images.context);
  Progress silent;
  return fit_energy(model, {images.pixels, images.pixels}, options, silent).looks;
}

/// Milliseconds a step, from the second half of the run: the first has the recording in it.
double step_milliseconds(const Case& c, const Images& images, int64_t steps) {
  const auto looks = two_looks(c, images, steps);
  const double seconds = looks.back().training_seconds - looks.front().training_seconds;
  return 1000 * seconds / static_cast<double>(looks.back().step - looks.front().step);
}

#ifdef DRE_WITH_CUDA
double bytes_made() {
  return static_cast<double>(
      c10::cuda::CUDACachingAllocator::getDeviceStats(0).allocated_bytes[0].allocated);
}

/// Bytes of all tensors that one step makes: what twice as many steps make more.
double step_bytes(Case c, const Images& images) {
  c.graph = false;
  const auto made = [&](int64_t steps) {
    const double before = bytes_made();
    two_looks(c, images, steps);
    return bytes_made() - before;
  };
  made(2);  // the search for algorithms
  const double few = made(2), more = made(4);
  return (more - few) / 4;
}

/// Bytes a millisecond, read or written, when a large tensor is copied.
double copy_speed(const Context& context) {
  const Tensor from = torch::ones({1 << 28}, context.options());
  Tensor to = torch::empty_like(from);
  const auto copies = [&](int64_t count) {
    for (int64_t i = 0; i < count; ++i) to.copy_(from);
    to[0].item<float>();
  };
  copies(3);
  const auto start = std::chrono::steady_clock::now();
  copies(20);
  const std::chrono::duration<double, std::milli> elapsed =
      std::chrono::steady_clock::now() - start;
  return 20 * 2.0 * static_cast<double>(from.nbytes()) / elapsed.count();
}
#endif

/// Milliseconds of the memory bound; none without CUDA.
std::string memory_bound([[maybe_unused]] const Case& c, [[maybe_unused]] const Images& images) {
#ifdef DRE_WITH_CUDA
  if (images.context.device.is_cuda()) {
    char shown[32];
    std::snprintf(shown, sizeof shown, "%.2f",
                  2 * step_bytes(c, images) / copy_speed(images.context));
    return shown;
  }
#endif
  return "";
}

void run(const Context& context, int64_t steps, const std::vector<Case>& cases) {
  auto generator = context.generator("pixels");
  const Tensor pixels =
      at::randint(0, 256, {4000, 784}, generator, torch::kInt64).to(torch::kUInt8);
  const Images images{pixels, gaussian_noise(pixels, 1, context), context};
  std::puts(
      "| objective | matching | channels | batch | bfloat16 | graph | ms a step | memory bound, ms "
      "|");
  std::puts("|---|---|---|---|---|---|---|---|");
  for (const Case& c : cases) {
    const double ms = step_milliseconds(c, images, steps);
    const bool matches = std::string(c.objective) == "time";
    std::printf("| %s | %s | %ld | %ld | %s | %s | %.2f | %s |\n", c.objective,
                matches ? c.matching : "", static_cast<long>(c.width), static_cast<long>(c.batch),
                c.half ? "yes" : "no", c.graph ? "yes" : "no", ms, memory_bound(c, images).c_str());
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
      {"time", 64, 500, false, false, "boundary"},
      {"time", 64, 500, false, true, "boundary"},
      {"time", 64, 500, true, true, "boundary"},
      {"time", 64, 500, false, false},
      {"time", 64, 500, false, true},
      {"time", 64, 500, true, true},
      {"conditional", 64, 500, true, true},
      {"velocity", 32, 256, false, true},
      {"velocity", 32, 256, true, true},
      {"velocity", 48, 256, true, true},
      {"velocity", 64, 256, true, true},
      {"velocity", 96, 256, true, true},
  };
  if (quick)
    cases = {{"time", 64, 8, false, false, "boundary"},
             {"time", 64, 8, false, false},
             {"velocity", 32, 8, false, false}};
  dre::run(context, steps, cases);
  return 0;
}
