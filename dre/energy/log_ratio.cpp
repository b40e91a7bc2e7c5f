#include "dre/energy/log_ratio.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "dre/base/error.h"
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

/// The same over points of the bridge from x0 to x1, [n, d] each. -> [n], float64, host
Tensor score_along_bridge(const EnergyModel& model, const Tensor& x0, const Tensor& x1,
                          const TimeNodes& nodes, at::Generator& generator) {
  const int64_t count = nodes.t.size(0);
  const auto points = [&](const Tensor& t) {
    return draw_point(*model.bridge(), x0.repeat_interleave(count, 0),
                      x1.repeat_interleave(count, 0), t, generator)
        .x;
  };
  const auto& score = *ability<TimeScore>(model.score());
  return integrate_score(score, x0.size(0), nodes, points).to(torch::kCPU, torch::kFloat64);
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
    return direct->ratio_residual(y).add(model.correction.value);
  const auto points = [&](const Tensor&) { return y.repeat_interleave(nodes.t.size(0), 0); };
  const Tensor integral =
      integrate_score(*ability<TimeScore>(model.score()), y.size(0), nodes, points);
  return model.correction.value - integral;
}

Tensor energy_log_ratio(const EnergyModel& model, const Tensor& y, int64_t nodes) {
  return energy_log_ratio(model, y, time_nodes(model, nodes));
}

std::optional<Measured> zero_mean_correction(const EnergyModel& model, const Tensor& y,
                                             const EnergyEvaluateOptions& options,
                                             at::Generator& generator, Progress& progress) {
  const torch::NoGradGuard no_grad;
  if (!ability<TimeScore>(model.score())) return Measured{};
  const TimeNodes nodes = time_nodes(model, options.nodes);
  const int64_t rows = y.size(0), together = rows_together(model, options.rows_at_once);
  std::vector<Tensor> found;
  int64_t done = 0;
  progress.begin("correction", rows);
  for (const Tensor& block : y.split(options.rows_at_once)) {
    // A one-sided bridge draws the noise itself.
    const Tensor noise =
        model.space().between_images() ? model.space().draw_noise(block.size(0), generator) : block;
    for (int64_t i = 0; i < block.size(0) && !progress.stop_requested(); i += together) {
      const Tensor some = block.slice(0, i, i + together);
      found.push_back(
          score_along_bridge(model, some, noise.slice(0, i, i + together), nodes, generator));
      progress.advance(done += some.size(0), "");
    }
    if (progress.stop_requested()) break;
  }
  progress.end();
  return done == rows ? std::optional(mean_of(at::cat(found))) : std::nullopt;
}

}  // namespace dre
