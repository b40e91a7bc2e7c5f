#include "dre/energy/evaluate.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "dre/base/error.h"
#include "dre/data/mnist.h"
#include "dre/energy/arc.h"
#include "dre/energy/flow.h"
#include "dre/energy/log_ratio.h"

namespace dre {
namespace {

nlohmann::json bits_json(const Measured& bits) {
  return std::isfinite(bits.value) ? to_json(bits) : nlohmann::json();
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
  return {of_data + of_noise - model.correction.value,
          standard_normal_log_prob(y) + model.correction.value - of_noise};
}

/// Log-densities of a block of images, [n] each, all in the coordinates of the logits; undefined
/// where the model has none.
struct Block {
  Tensor noise, direct, direct_by_probe, by_arc, by_variance, by_probe, by_noise_half,
      log_determinant;
  int64_t flow_evaluations = 0;
};

/// What is drawn for images before the network sees them.
struct Drawn {
  Logits logits;
  Tensor probes;  ///< [n, d]; undefined for models without a flow
  Tensor noise;   ///< [n, d], where arcs end; undefined for models without arcs

  Drawn slice(int64_t from, int64_t to) const {
    const auto part = [&](const Tensor& all) {
      return all.defined() ? all.slice(0, from, to) : Tensor();
    };
    return {{part(logits.x), part(logits.log_determinant)}, part(probes), part(noise)};
  }
};

Drawn draw(const EnergyModel& model, const Tensor& pixels, at::Generator& generator) {
  Drawn drawn{dequantise(pixels, generator, model.context().dtype), {}, {}};
  const Tensor& x = drawn.logits.x;
  if (has_flow(model)) drawn.probes = random_signs(x.sizes(), x.options(), generator);
  if (has_arc(model)) drawn.noise = normal(x.sizes(), x.options(), generator);
  return drawn;
}

/// Nothing where a stop was asked for.
std::optional<Block> evaluate_block(const EnergyModel& model, const Drawn& drawn,
                                    const EnergyEvaluateOptions& options, Progress& progress) {
  const auto& [logits, probes, noise] = drawn;
  const Moved y = model.space().enter(logits.x);
  const DirectParts direct = direct_parts(model, y.point, options.nodes);
  Block block;
  block.log_determinant = logits.log_determinant;
  block.noise = model.space().noise_log_prob(y.point) + y.log_determinant;
  block.direct = block.noise + direct.log_ratio;
  if (model.meets()) block.by_noise_half = direct.noise_log_prob + y.log_determinant;
  if (has_arc(model)) {
    const auto along = arc_log_prob(model, y.point, noise, options.nodes, progress);
    if (!along) return std::nullopt;
    block.by_arc = *along + y.log_determinant;
  }
  if (!has_flow(model)) return block;
  const TimeNodes nodes = time_nodes(model, options.nodes);
  const auto gain = exact_divergence_gain(model, y.point, probes, nodes, progress);
  const auto flow = flow_density(model, y.point, probes, options.flow_steps, progress);
  if (!gain || !flow) return std::nullopt;
  block.direct_by_probe = block.direct - model.correction.value + *gain;
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
  const Measured none{NAN, 0};
  EnergyReport report;
  report.rows = corrected.size(0);
  report.noise = mean_of(noise);
  report.direct = report.corrected = mean_of(corrected);
  const double nats = nats_of_a_bit(d);
  report.direct.value += model.correction.value / nats;
  report.corrected.standard_error =
      std::hypot(report.corrected.standard_error, model.correction.standard_error / nats);
  report.direct_exact = report.arc = report.flow = report.flow_by_variance = report.disagreement =
      report.noise_half = none;
  if (model.meets()) report.noise_half = mean_of(bits_of(&Block::by_noise_half) - noise);
  if (has_arc(model)) report.arc = mean_of(bits_of(&Block::by_arc));
  if (!has_flow(model)) return report;
  const Tensor by_variance = bits_of(&Block::by_variance);
  report.direct_exact = mean_of(bits_of(&Block::direct_by_probe));
  report.flow = mean_of(bits_of(&Block::by_probe));
  report.flow_by_variance = mean_of(by_variance);
  report.disagreement = mean_of((corrected - by_variance).abs());
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

Tensor energy_pixels(const EnergyModel& model, const Tensor& y) {
  const torch::NoGradGuard no_grad;
  return to_pixels(model.space().leave(y).point).cpu();
}

EnergyReport evaluate_energy(const EnergyModel& model, const Tensor& pixels,
                             const EnergyEvaluateOptions& options, at::Generator& generator,
                             Progress& progress) {
  const torch::NoGradGuard no_grad;
  const InPrecision precision(model.network(), options.half);
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
          {"noise_model", bits_json(report.noise)},
          {"direct", bits_json(report.direct)},
          {"corrected", bits_json(report.corrected)},
          {"direct_exact", bits_json(report.direct_exact)},
          {"arc", bits_json(report.arc)},
          {"flow_by_variance", bits_json(report.flow_by_variance)},
          {"flow", bits_json(report.flow)},
          {"disagreement", bits_json(report.disagreement)},
          {"noise_half", bits_json(report.noise_half)},
          {"direct_evaluations", report.direct_evaluations},
          {"flow_evaluations", report.flow_evaluations},
          {"seconds_for_100_ratios",
           report.direct_seconds ? nlohmann::json(*report.direct_seconds) : nlohmann::json()}};
}

}  // namespace dre
