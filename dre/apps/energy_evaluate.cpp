#include "dre/apps/energy_evaluate.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>

#include "dre/base/error.h"
#include "dre/data/mnist.h"
#include "dre/integrate/ode.h"
#include "dre/integrate/rules.h"

namespace dre {
namespace {

/// The integral over time of the time score; points(t) gives n rows at every node. -> [n]
Tensor integrate_score(const TimeScore& score, int64_t n, const TimeNodes& nodes,
                       const std::function<Tensor(const Tensor& t)>& points) {
  const Tensor t = nodes.t.repeat({n}).unsqueeze(1);  // nodes of a row next to each other
  const Tensor s = score.time_score(points(t), t).value;
  return at::matmul(s.view({n, nodes.t.size(0)}), nodes.weight);
}

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

/// Along the flow through all stretches, from data to noise or back, `steps` Runge-Kutta steps
/// each.
Flowed solve_flow(const EnergyModel& model, const VectorField& field, const Tensor& state,
                  bool to_noise, int64_t steps) {
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
      return field(y, std::clamp(u, low == 0 ? 0 : low + inside, high == 1 ? 1 : high - inside));
    };
    const OdeSolution solution = solve_ode(within, out.state, ends[i], ends[i + 1], options);
    out = {solution.y, out.evaluations + solution.evaluations};
  }
  return out;
}

nlohmann::json to_json(const Bits& bits) {
  if (!std::isfinite(bits.value)) return nullptr;
  return {{"value", bits.value}, {"standard_error", bits.error}};
}

/// log r(y), and where two bridges meet the noise model's log-density by the half that leads to it.
struct DirectParts {
  Tensor log_ratio, noise_log_prob;
};

DirectParts direct_parts(const EnergyModel& model, const Tensor& y, int64_t count) {
  const TimeNodes nodes = time_nodes(model, count);
  if (!model.meets()) return {energy_log_ratio(model, y, nodes), {}};
  const auto part = [&](int64_t from) {
    return energy_log_ratio(model, y,
                            {nodes.t.narrow(0, from, count), nodes.weight.narrow(0, from, count)});
  };
  const Tensor of_data = part(0), of_noise = part(count);
  return {of_data + of_noise - model.correction,
          standard_normal_log_prob(y) + model.correction - of_noise};
}

/// Log-densities of a block of images, [n] each, all in the coordinates of the logits; undefined
/// where the model has none.
struct Block {
  Tensor noise, direct, direct_by_probe, by_variance, by_probe, by_noise_half, log_determinant;
  int64_t flow_evaluations = 0;
};

Block evaluate_block(const EnergyModel& model, const Tensor& pixels,
                     const EnergyEvaluateOptions& options, at::Generator& generator) {
  const Logits logits = dequantise(pixels, generator, model.context().dtype);
  const Moved y = model.space().enter(logits.x);
  const DirectParts direct = direct_parts(model, y.point, options.nodes);
  Block block;
  block.log_determinant = logits.log_determinant;
  block.noise = model.space().noise_log_prob(y.point) + y.log_determinant;
  block.direct = block.noise + direct.log_ratio;
  if (model.meets()) block.by_noise_half = direct.noise_log_prob + y.log_determinant;
  if (!has_flow(model)) return block;
  const Tensor probes = random_signs(y.point.sizes(), y.point.options(), generator);
  block.direct_by_probe =
      block.direct - model.correction +
      exact_divergence_gain(model, y.point, probes, time_nodes(model, options.nodes));
  const FlowDensity flow = flow_density(model, y.point, probes, options.flow_steps);
  block.by_variance = flow.by_variance + y.log_determinant;
  block.by_probe = flow.by_probe + y.log_determinant;
  block.flow_evaluations = flow.evaluations;
  return block;
}

/// The bits of all blocks.
EnergyReport summarise(const EnergyModel& model, const std::vector<Block>& blocks) {
  const int64_t d = model.dimension();
  const auto bits_of = [&](Tensor Block::*part) {
    std::vector<Tensor> values;
    for (const Block& block : blocks)
      values.push_back(bits_per_dimension(block.*part, block.log_determinant, d)
                           .to(torch::kCPU, torch::kFloat64));
    return at::cat(values);
  };
  const Tensor noise = bits_of(&Block::noise), corrected = bits_of(&Block::direct);
  const Bits none{NAN, 0};
  EnergyReport report;
  report.rows = corrected.size(0);
  report.noise = mean_bits(noise);
  report.direct = report.corrected = mean_bits(corrected);
  report.direct.value += model.correction / (static_cast<double>(d) * std::log(2.0));
  report.direct_exact = report.flow = report.flow_by_variance = report.disagreement =
      report.noise_half = none;
  if (model.meets()) report.noise_half = mean_bits(bits_of(&Block::by_noise_half) - noise);
  if (!has_flow(model)) return report;
  const Tensor by_probe = bits_of(&Block::by_probe);
  report.direct_exact = mean_bits(bits_of(&Block::direct_by_probe));
  report.flow = mean_bits(by_probe);
  report.flow_by_variance = mean_bits(bits_of(&Block::by_variance));
  report.disagreement = mean_bits((corrected - by_probe).abs());
  report.flow_evaluations = blocks.front().flow_evaluations;
  return report;
}

constexpr int64_t images_timed = 100;

/// Wall clock of the log-ratios of images, on a warm device.
double seconds_for(const EnergyModel& model, const Tensor& pixels, int64_t nodes,
                   at::Generator& generator) {
  const Tensor y =
      model.space().enter(dequantise(pixels, generator, model.context().dtype).x).point;
  const auto once = [&] { energy_log_ratio(model, y, nodes).sum().item<double>(); };
  once();
  const auto start = std::chrono::steady_clock::now();
  once();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

TimeNodes time_nodes(const EnergyModel& model, int64_t count, double from) {
  const RuleLevel rule = legendre(count).levels.front();
  std::vector<double> t, weight;
  double low = from;
  for (const double high : model.stretches()) {
    if (high <= low) continue;
    for (size_t i = 0; i < rule.new_nodes.size(); ++i) {
      const AngleDensity::Quantile at =
          model.angles().at(std::lerp(low, high, (rule.new_nodes[i] + 1) / 2));
      t.push_back(at.t);
      weight.push_back((high - low) * rule.weights[i] / 2 * at.slope);
    }
    low = high;
  }
  const auto tensor = [&](const std::vector<double>& values) {
    return torch::tensor(values, torch::kFloat64).to(model.context().options());
  };
  return {tensor(t), tensor(weight)};
}

Tensor energy_log_ratio(const EnergyModel& model, const Tensor& y, const TimeNodes& nodes) {
  check_rows(y, model.dimension());
  if (const auto* direct = ability<DirectRatio>(model.score()))
    return direct->ratio_residual(y).add(model.correction);
  const auto points = [&](const Tensor&) { return y.repeat_interleave(nodes.t.size(0), 0); };
  const Tensor integral =
      integrate_score(*ability<TimeScore>(model.score()), y.size(0), nodes, points);
  return model.correction - integral;
}

Tensor energy_log_ratio(const EnergyModel& model, const Tensor& y, int64_t nodes) {
  return energy_log_ratio(model, y, time_nodes(model, nodes));
}

Tensor exact_divergence_gain(const EnergyModel& model, const Tensor& y, const Tensor& probes,
                             const TimeNodes& nodes) {
  const torch::NoGradGuard no_grad;
  Tensor gain = y.new_zeros({y.size(0)});
  for (int64_t k = 0; k < nodes.t.size(0); ++k) {
    const Tensor t = nodes.t[k].expand({y.size(0), 1});
    const FlowPoint flow = flow_of(model).flow({y, probes}, t);
    gain += nodes.weight[k] * (probed(flow, probes).squeeze(1) - flow.divergence);
  }
  return gain;
}

double zero_mean_correction(const EnergyModel& model, const Tensor& y,
                            const EnergyEvaluateOptions& options, at::Generator& generator) {
  const torch::NoGradGuard no_grad;
  const auto* score = ability<TimeScore>(model.score());
  if (!score) return 0;
  const TimeNodes nodes = time_nodes(model, options.nodes);
  double total = 0;
  const int64_t count = nodes.t.size(0);
  for (const Tensor& block : y.split(options.rows_at_once)) {
    const int64_t n = block.size(0);
    // A one-sided bridge draws the noise itself.
    const Tensor noise =
        model.space().between_images() ? model.space().draw_noise(n, generator) : block;
    const auto points = [&](const Tensor& t) {
      return draw_point(*model.bridge(), block.repeat_interleave(count, 0),
                        noise.repeat_interleave(count, 0), t, generator)
          .x;
    };
    total += integrate_score(*score, n, nodes, points).sum(torch::kFloat64).item<double>();
  }
  return total / static_cast<double>(y.size(0));
}

bool has_flow(const EnergyModel& model) { return ability<FlowField>(model.score()) != nullptr; }

FlowDensity flow_density(const EnergyModel& model, const Tensor& y, const Tensor& probes,
                         int64_t steps) {
  const torch::NoGradGuard no_grad;
  const int64_t n = y.size(0), d = y.size(1);
  const auto field = [&](const Tensor& state, double u) {
    const FlowPoint flow = flow_at(model, {state.narrow(1, 0, d), probes}, u);
    return at::cat({flow.velocity.value, flow.divergence.unsqueeze(1), probed(flow, probes)}, 1);
  };
  const Flowed end =
      solve_flow(model, field, at::cat({y, y.new_zeros({n, 2})}, 1), /*to_noise=*/true, steps);
  const Tensor base = model.space().noise_log_prob(end.state.narrow(1, 0, d));
  return {base + end.state.select(1, d), base + end.state.select(1, d + 1), end.evaluations};
}

Tensor flow_samples(const EnergyModel& model, int64_t n, int64_t steps, at::Generator& generator) {
  const torch::NoGradGuard no_grad;
  const auto field = [&](const Tensor& y, double u) { return flow_at(model, y, u).velocity.value; };
  return solve_flow(model, field, model.space().draw_noise(n, generator), /*to_noise=*/false, steps)
      .state;
}

Tensor energy_pixels(const EnergyModel& model, const Tensor& y) {
  const torch::NoGradGuard no_grad;
  return to_pixels(model.space().leave(y).point).cpu();
}

Tensor random_signs(torch::IntArrayRef shape, const torch::TensorOptions& options,
                    at::Generator& generator) {
  return uniform(shape, options, generator).sub_(0.5).sign_();
}

Bits mean_bits(const Tensor& values) {
  const Tensor v = values.to(torch::kCPU, torch::kFloat64);
  return {v.mean().item<double>(),
          v.std().item<double>() / std::sqrt(static_cast<double>(v.size(0)))};
}

EnergyReport evaluate_energy(const EnergyModel& model, const Tensor& pixels,
                             const EnergyEvaluateOptions& options, at::Generator& generator,
                             Progress& progress) {
  const torch::NoGradGuard no_grad;
  model.network().set_half(options.half);
  const int64_t all = pixels.size(0);
  const int64_t rows = options.rows > 0 ? std::min(options.rows, all) : all;
  std::vector<Block> blocks;
  progress.begin("evaluating", rows);
  for (int64_t start = 0; start < rows && !progress.stop_requested();
       start += options.rows_at_once) {
    const int64_t end = std::min(rows, start + options.rows_at_once);
    blocks.push_back(evaluate_block(model, pixels.slice(0, start, end), options, generator));
    progress.advance(end, "");
  }
  progress.end();
  if (progress.stop_requested()) {
    EnergyReport nothing;
    nothing.finished = false;
    return nothing;
  }
  EnergyReport report = summarise(model, blocks);
  report.direct_evaluations =
      ability<TimeScore>(model.score()) ? time_nodes(model, options.nodes).t.size(0) : 1;
  if (rows >= images_timed)
    report.direct_seconds =
        seconds_for(model, pixels.slice(0, 0, images_timed), options.nodes, generator);
  return report;
}

nlohmann::json to_json(const EnergyReport& report) {
  return {{"images", report.rows},
          {"noise_model", to_json(report.noise)},
          {"direct", to_json(report.direct)},
          {"corrected", to_json(report.corrected)},
          {"direct_exact", to_json(report.direct_exact)},
          {"flow_by_variance", to_json(report.flow_by_variance)},
          {"flow", to_json(report.flow)},
          {"disagreement", to_json(report.disagreement)},
          {"noise_half", to_json(report.noise_half)},
          {"direct_evaluations", report.direct_evaluations},
          {"flow_evaluations", report.flow_evaluations},
          {"seconds_for_100_ratios",
           report.direct_seconds ? nlohmann::json(*report.direct_seconds) : nlohmann::json()}};
}

}  // namespace dre
