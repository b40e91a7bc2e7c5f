#include "dre/energy/flow.h"

#include <algorithm>

#include "dre/base/error.h"
#include "dre/integrate/ode.h"

namespace dre {
namespace {

const FlowField& flow_of(const EnergyModel& model) {
  const auto* field = ability<FlowField>(model.score());
  check(field, "a model trained by the objective '", model.options().objective,
        "' has no flow; the objective velocity has one");
  return *field;
}

/// The field at one time for all points, in the variable u in which times are drawn.
FlowPoint flow_at(const EnergyModel& model, const Dual& y, double u) {
  const AngleDensity::Quantile at = model.angles().at(u);
  const Tensor t = torch::full({y.value.size(0), 1}, at.t, y.value.options());
  const FlowPoint flow = flow_of(model).flow(y, t);
  return {flow.velocity * at.slope, flow.divergence * at.slope};
}

/// The exact divergence by the derivative along a probe: [n, 1]
Tensor probed(const FlowPoint& flow, const Tensor& probes) {
  return (flow.velocity.tangent * probes).sum(1, true);
}

struct Flowed {
  Tensor state;
  int64_t evaluations = 0;
};

/// Ends a solution of the flow in the middle.
struct Stopped {};

/// Along the flow through all stretches, from data to noise or back, `steps` Runge-Kutta steps
/// each. Throws where a stop was asked for: on the CPU one evaluation may take seconds.
Flowed solve_flow(const EnergyModel& model, const VectorField& field, const Tensor& state,
                  bool to_noise, int64_t steps, Progress& progress) {
  constexpr double inside = 1e-6;  // where two stretches meet each keeps to its own side
  OdeOptions options;
  options.method = "rk4";
  options.steps = steps;
  std::vector<double> ends = model.stretches();
  if (!to_noise) std::reverse(ends.begin(), ends.end());
  Flowed out{state};
  for (size_t i = 0; i + 1 < ends.size(); ++i) {
    const double low = std::min(ends[i], ends[i + 1]), high = std::max(ends[i], ends[i + 1]);
    const auto within = [&](const Tensor& y, double u) {
      if (progress.stop_requested()) throw Stopped{};
      return field(y, std::clamp(u, low == 0 ? 0 : low + inside, high == 1 ? 1 : high - inside));
    };
    const OdeSolution solution = solve_ode(within, out.state, ends[i], ends[i + 1], options);
    out = {solution.y, out.evaluations + solution.evaluations};
  }
  return out;
}

}  // namespace

bool has_flow(const EnergyModel& model) { return ability<FlowField>(model.score()) != nullptr; }

std::optional<FlowDensity> flow_density(const EnergyModel& model, const Tensor& y,
                                        const Tensor& probes, int64_t steps, Progress& progress) {
  const torch::NoGradGuard no_grad;
  const int64_t n = y.size(0), d = y.size(1);
  const auto field = [&](const Tensor& state, double u) {
    const FlowPoint flow = flow_at(model, {state.narrow(1, 0, d), probes}, u);
    return at::cat({flow.velocity.value, flow.divergence.unsqueeze(1), probed(flow, probes)}, 1);
  };
  try {
    const Flowed end = solve_flow(model, field, at::cat({y, y.new_zeros({n, 2})}, 1),
                                  /*to_noise=*/true, steps, progress);
    const Tensor base = model.space().noise_log_prob(end.state.narrow(1, 0, d));
    return FlowDensity{base + end.state.select(1, d), base + end.state.select(1, d + 1),
                       end.evaluations};
  } catch (const Stopped&) {
    return std::nullopt;
  }
}

std::optional<Tensor> flow_samples(const EnergyModel& model, int64_t n, int64_t steps,
                                   at::Generator& generator, Progress& progress) {
  const torch::NoGradGuard no_grad;
  const auto parts = model.space().draw_noise(n, generator).split(rows_together(model, n));
  const auto total =
      static_cast<int64_t>(parts.size() * (model.stretches().size() - 1)) * 4 * steps;
  int64_t done = 0;
  const auto field = [&](const Tensor& y, double u) {
    progress.advance(done++, "");
    return flow_at(model, y, u).velocity.value;
  };
  std::vector<Tensor> samples;
  progress.begin("drawing", total);
  try {
    for (const Tensor& part : parts)
      samples.push_back(solve_flow(model, field, part, /*to_noise=*/false, steps, progress).state);
  } catch (const Stopped&) {
    samples.clear();
  }
  progress.end();
  return samples.empty() ? std::nullopt : std::optional(at::cat(samples));
}

std::optional<Tensor> exact_divergence_gain(const EnergyModel& model, const Tensor& y,
                                            const Tensor& probes, const TimeNodes& nodes,
                                            Progress& progress) {
  const torch::NoGradGuard no_grad;
  Tensor gain = y.new_zeros({y.size(0)});
  for (int64_t k = 0; k < nodes.t.size(0); ++k) {
    if (progress.stop_requested()) return std::nullopt;
    const Tensor t = nodes.t[k].expand({y.size(0), 1});
    const FlowPoint flow = flow_of(model).flow({y, probes}, t);
    gain += nodes.weight[k] * (probed(flow, probes).squeeze(1) - flow.divergence);
  }
  return gain;
}

Tensor random_signs(torch::IntArrayRef shape, const torch::TensorOptions& options,
                    at::Generator& generator) {
  return uniform(shape, options, generator).sub_(0.5).sign_();
}

}  // namespace dre
