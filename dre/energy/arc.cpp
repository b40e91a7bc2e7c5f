#include "dre/energy/arc.h"

#include <cmath>

#include "dre/base/error.h"
#include "dre/density/density.h"

namespace dre {

std::optional<Tensor> arc_log_prob(const Score& score, const Tensor& y, const Tensor& noise,
                                   const TimeNodes& nodes, double from, double to,
                                   Progress& progress) {
  const torch::NoGradGuard no_grad;
  const auto* time = ability<TimeScore>(score);
  const auto* data = ability<DataScore>(score);
  check(time && data, "arcs need a time score and a data score");
  const double turning = M_PI / 2 / (to - from);
  Tensor log_ratio = y.new_zeros({y.size(0)});  // to N(0, I), whose own part is in closed form
  for (int64_t k = 0; k < nodes.t.size(0); ++k) {
    if (progress.stop_requested()) return std::nullopt;
    const Tensor phi = turning * (nodes.t[k] - from), t = nodes.t[k].expand({y.size(0), 1});
    const Tensor x = phi.cos() * y + phi.sin() * noise;
    const Tensor way = turning * (phi.cos() * noise - phi.sin() * y);
    const Tensor of_way = ((data->data_score(x, t).value + x) * way).sum(1);
    log_ratio -= nodes.weight[k] * (time->time_score(x, t).value + of_way);
  }
  return standard_normal_log_prob(y) + log_ratio;
}

bool has_arc(const EnergyModel& model) {
  return ability<TimeScore>(model.score()) && ability<DataScore>(model.score());
}

std::optional<Tensor> arc_log_prob(const EnergyModel& model, const Tensor& y, const Tensor& noise,
                                   int64_t nodes, Progress& progress) {
  const TimeNodes all = time_nodes(model, nodes);
  const TimeNodes first = {all.t.slice(0, 0, nodes), all.weight.slice(0, 0, nodes)};
  const double to = model.angles().at(model.stretches()[1]).t;
  return arc_log_prob(model.score(), y, noise, first, model.angles().at(0).t, to, progress);
}

}  // namespace dre
