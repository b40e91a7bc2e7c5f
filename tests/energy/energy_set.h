/// A tiny energy model with images to fit and judge it, for the tests of energy models.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>

#include "dre/data/mnist.h"
#include "dre/density/flow.h"
#include "dre/energy/fit.h"
#include "dre/energy/flow.h"
#include "dre/energy/log_ratio.h"
#include "dre/energy/noise.h"

namespace dre::testing {

/// Images of a few grey levels around a random bright square: far from Gaussian logits.
inline Tensor pictures(int64_t n, int64_t side, uint64_t seed) {
  auto generator = Context{torch::kCPU, torch::kFloat32, seed}.generator("pictures");
  const Tensor noise = at::randint(0, 40, {n, side * side}, generator, torch::kFloat32);
  const Tensor bright = (normal({n, 1}, torch::kFloat32, generator) > 0).to(torch::kFloat32);
  return (noise + 150 * bright).to(torch::kUInt8);
}

inline EnergyOptions tiny(const std::string& objective, const std::string& bridge = "latent") {
  EnergyOptions options;
  options.objective = objective;
  options.bridge = bridge;
  options.width = 4;
  options.levels = 2;
  options.blocks = 1;
  options.groups = 2;
  options.bridges = 2;
  return options;
}

/// Four pixels along each side are enough for the residual U-Net, the paper's needs twenty.
inline int64_t side_of(const std::string& objective) { return objective == "velocity" ? 4 : 20; }

/// A copula that has seen nothing of the images but their means and sizes, column by column.
inline DensityPtr copula_noise(const Tensor& pixels, const Context& context) {
  FlowOptions options;
  options.dimension = pixels.size(1);
  options.copula_bins = 16;
  auto flow = std::make_shared<Flow>("copula", options, context);
  auto generator = context.device_generator("noise model");
  flow->initialise(dequantise(pixels.to(context.device), generator, context.dtype).x);
  const torch::NoGradGuard no_grad;
  Tensor weights = flow->parameters().flat();
  weights += 0.1 * normal(weights.sizes(), weights.options(), generator);
  return flow;
}

struct EnergySet {
  Context context;
  Tensor train, validation;
  std::unique_ptr<EnergyModel> model;

  explicit EnergySet(const std::string& objective, torch::ScalarType type = torch::kFloat32,
                     torch::Device device = torch::kCPU)
      : EnergySet(tiny(objective), {device, type, 1}) {}

  /// noise: null for the Gaussian of the images, or a copula where the bridge runs between images.
  EnergySet(const EnergyOptions& options, const Context& context_, DensityPtr noise = nullptr)
      : context(context_),
        train(pictures(options.objective == "velocity" ? 200 : 900, side_of(options.objective), 1)),
        validation(pictures(40, side_of(options.objective), 2)),
        model(std::make_unique<EnergyModel>(
            noise                        ? noise
            : options.bridge == "images" ? copula_noise(train, context)
                                         : gaussian_noise(train, 1, context),
            options, context, energy_frame(options, train, context))) {}

  void move_weights() {
    const torch::NoGradGuard no_grad;
    auto generator = context.device_generator("move");
    Tensor flat = model->network().parameters().flat();
    flat.add_(0.2 * normal(flat.sizes(), flat.options(), generator));
  }

  Tensor latent(int64_t rows) const {
    auto generator = context.generator("latent");
    const Logits logits = dequantise(validation.slice(0, 0, rows), generator, context.dtype);
    return model->space().enter(logits.x.to(context.device)).point;
  }

  EnergyReport report() {
    Progress silent;
    auto generator = context.generator("report");
    EnergyEvaluateOptions options;
    options.nodes = 8;
    options.flow_steps = 8;
    return evaluate_energy(*model, validation, options, generator, silent);
  }
};

/// Tests that hold for bridges in latent space and between images.
class OnBothBridges : public ::testing::TestWithParam<const char*> {
 protected:
  EnergySet make_set() const {
    return EnergySet(tiny("velocity", GetParam()), {torch::kCPU, torch::kFloat32, 1});
  }
};

/// From data to noise along the flow, by Runge-Kutta steps of its own.
inline Tensor flowed(const EnergyModel& model, const Tensor& start, int64_t steps) {
  const auto velocity = [&](const Tensor& at, double u) {
    const auto q = model.angles().at(u);
    const Tensor t = torch::full({at.size(0), 1}, q.t, at.options());
    return ability<FlowField>(model.score())->flow(at, t).velocity.value * q.slope;
  };
  Tensor y = start;
  const std::vector<double> stretches = model.stretches();
  for (size_t k = 0; k + 1 < stretches.size(); ++k) {
    const double h = (stretches[k + 1] - stretches[k]) / static_cast<double>(steps);
    const double last = k + 2 < stretches.size() ? stretches[k + 1] - 1e-9 : 1;
    for (int64_t i = 0; i < steps; ++i) {
      const double u = stretches[k] + static_cast<double>(i) * h;
      const Tensor k1 = velocity(y, u), k2 = velocity(y + h / 2 * k1, u + h / 2);
      const Tensor k3 = velocity(y + h / 2 * k2, u + h / 2);
      const Tensor k4 = velocity(y + h * k3, std::min(last, u + h));
      y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
    }
  }
  return y;
}

inline EnergyFitOptions few_steps(int64_t steps) {
  EnergyFitOptions options;
  options.train.steps = steps;
  options.train.batch = 16;
  options.train.warmup = 2;
  options.train.rate = 3e-3;
  options.train.average = 0.9;
  options.train.evaluate_every = 4;
  options.looks.rows = 4;
  options.looks.nodes = 4;
  options.looks.flow_steps = 2;
  return options;
}

}  // namespace dre::testing
