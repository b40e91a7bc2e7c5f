#include "dre/apps/energy_evaluate.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>

#include "dre/apps/energy_flow.h"
#include "dre/base/error.h"
#include "dre/data/mnist.h"
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

/// The same over points of the bridge from x0 to x1, [n, d] each; the sum of all rows.
double score_along_bridge(const EnergyModel& model, const Tensor& x0, const Tensor& x1,
                          const TimeNodes& nodes, at::Generator& generator) {
  const int64_t count = nodes.t.size(0);
  const auto points = [&](const Tensor& t) {
    return draw_point(*model.bridge(), x0.repeat_interleave(count, 0),
                      x1.repeat_interleave(count, 0), t, generator)
        .x;
  };
  const auto& score = *ability<TimeScore>(model.score());
  return integrate_score(score, x0.size(0), nodes, points).sum(torch::kFloat64).item<double>();
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

/// What is drawn for images before the network sees them.
struct Drawn {
  Logits logits;
  Tensor probes;  ///< [n, d]; undefined for models without a flow

  Drawn slice(int64_t from, int64_t to) const {
    return {{logits.x.slice(0, from, to), logits.log_determinant.slice(0, from, to)},
            probes.defined() ? probes.slice(0, from, to) : Tensor()};
  }
};

Drawn draw(const EnergyModel& model, const Tensor& pixels, at::Generator& generator) {
  const Logits logits = dequantise(pixels, generator, model.context().dtype);
  if (!has_flow(model)) return {logits, {}};
  return {logits, random_signs(logits.x.sizes(), logits.x.options(), generator)};
}

/// Nothing where a stop was asked for.
std::optional<Block> evaluate_block(const EnergyModel& model, const Drawn& drawn,
                                    const EnergyEvaluateOptions& options, Progress& progress) {
  const auto& [logits, probes] = drawn;
  const Moved y = model.space().enter(logits.x);
  const DirectParts direct = direct_parts(model, y.point, options.nodes);
  Block block;
  block.log_determinant = logits.log_determinant;
  block.noise = model.space().noise_log_prob(y.point) + y.log_determinant;
  block.direct = block.noise + direct.log_ratio;
  if (model.meets()) block.by_noise_half = direct.noise_log_prob + y.log_determinant;
  if (!has_flow(model)) return block;
  const TimeNodes nodes = time_nodes(model, options.nodes);
  const auto gain = exact_divergence_gain(model, y.point, probes, nodes, progress);
  const auto flow = flow_density(model, y.point, probes, options.flow_steps, progress);
  if (!gain || !flow) return std::nullopt;
  block.direct_by_probe = block.direct - model.correction + *gain;
  block.by_variance = flow->by_variance + y.log_determinant;
  block.by_probe = flow->by_probe + y.log_determinant;
  block.flow_evaluations = flow->evaluations;
  return block;
}

/// Those of the first `rows` images, fewer where a stop was asked for.
std::vector<Block> evaluate_blocks(const EnergyModel& model, const Tensor& pixels, int64_t rows,
                                   const EnergyEvaluateOptions& options, at::Generator& generator,
                                   Progress& progress) {
  const int64_t together = rows_together(model, options.rows_at_once);
  int64_t done = 0;
  std::vector<Block> blocks;
  for (const Tensor& some : pixels.slice(0, 0, rows).split(options.rows_at_once)) {
    if (progress.stop_requested()) return blocks;
    const Drawn drawn = draw(model, some, generator);
    for (int64_t from = 0; from < some.size(0); from += together) {
      if (progress.stop_requested()) return blocks;
      const auto block =
          evaluate_block(model, drawn.slice(from, from + together), options, progress);
      if (!block) return blocks;
      blocks.push_back(*block);
      progress.advance(done += block->direct.size(0), "");
    }
  }
  return blocks;
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

/// Wall clock of the log-ratios of images, on a warm device. Nothing where a stop was asked for.
std::optional<double> seconds_for(const EnergyModel& model, const Tensor& pixels, int64_t nodes,
                                  at::Generator& generator, Progress& progress) {
  const Tensor y =
      model.space().enter(dequantise(pixels, generator, model.context().dtype).x).point;
  const auto once = [&] {
    for (const Tensor& some : y.split(rows_together(model, y.size(0)))) {
      if (progress.stop_requested()) return false;
      energy_log_ratio(model, some, nodes).sum().item<double>();
    }
    return true;
  };
  if (!once()) return std::nullopt;
  const auto start = std::chrono::steady_clock::now();
  if (!once()) return std::nullopt;
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

int64_t rows_together(const EnergyModel& model, int64_t wanted) {
  constexpr int64_t most_on_cpu = 20;
  return model.context().device.is_cpu() ? std::min(wanted, most_on_cpu) : wanted;
}

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

std::optional<double> zero_mean_correction(const EnergyModel& model, const Tensor& y,
                                           const EnergyEvaluateOptions& options,
                                           at::Generator& generator, Progress& progress) {
  const torch::NoGradGuard no_grad;
  if (!ability<TimeScore>(model.score())) return 0;
  const TimeNodes nodes = time_nodes(model, options.nodes);
  const int64_t rows = y.size(0), together = rows_together(model, options.rows_at_once);
  double total = 0;
  int64_t done = 0;
  progress.begin("correction", rows);
  for (const Tensor& block : y.split(options.rows_at_once)) {
    // A one-sided bridge draws the noise itself.
    const Tensor noise =
        model.space().between_images() ? model.space().draw_noise(block.size(0), generator) : block;
    for (int64_t i = 0; i < block.size(0) && !progress.stop_requested(); i += together) {
      const Tensor some = block.slice(0, i, i + together);
      total += score_along_bridge(model, some, noise.slice(0, i, i + together), nodes, generator);
      progress.advance(done += some.size(0), "");
    }
    if (progress.stop_requested()) break;
  }
  progress.end();
  return done == rows ? std::optional(total / static_cast<double>(rows)) : std::nullopt;
}

Tensor energy_pixels(const EnergyModel& model, const Tensor& y) {
  const torch::NoGradGuard no_grad;
  return to_pixels(model.space().leave(y).point).cpu();
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
  progress.begin("evaluating", rows);
  const auto blocks = evaluate_blocks(model, pixels, rows, options, generator, progress);
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
        seconds_for(model, pixels.slice(0, 0, images_timed), options.nodes, generator, progress);
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
