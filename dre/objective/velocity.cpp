#include "dre/objective/velocity.h"

#include <algorithm>

namespace dre {
namespace {

constexpr int64_t rows_a_probe = 8;  // of a batch

}  // namespace

VelocityObjective::VelocityObjective(const VelocityScore& score, SecondMoments moments)
    : score_(score), moments_(moments) {}

Terms VelocityObjective::terms(const Batch& batch, const Tensor& t,
                               at::Generator& generator) const {
  const BridgePoint point = draw_point(score_.bridge(), batch.x0, batch.x1, t, generator);
  const ConditionalTarget target = conditional_target(point, moments_);
  const VelocityMoments m = score_.moments(point.x, t);
  const Tensor g = m.data_score.value, velocity = m.velocity.value;
  const Tensor drift = velocity + 0.5 * point.at.variance.first * g;
  const Tensor noise_error = point.noise + point.at.sigma() * g;
  const Tensor drift_error = point.drift - drift;
  const Tensor contraction_error = target.tau + (g * velocity).detach() - m.contraction.value;
  const Tensor loss = noise_error.square() + target.drift_weight * drift_error.square() +
                      target.weight * contraction_error.square();
  return {loss.mean(1), {}};
}

OneSidedVelocityObjective::OneSidedVelocityObjective(const OneSidedVelocityScore& score,
                                                     double probe_weight)
    : score_(score), probe_weight_(probe_weight) {}

Terms OneSidedVelocityObjective::terms(const Batch& batch, const Tensor& t,
                                       at::Generator& generator) const {
  const BridgePoint point = draw_point(score_.bridge(), batch.x0, batch.x1, t, generator);
  const Tensor sigma_first = point.at.log_sigma_rate() * point.at.sigma();
  const Tensor rate = score_.turn(t).rate;  // the score speaks in units of theta
  const Tensor velocity = (point.drift + sigma_first * point.noise) / rate;
  const OneSidedVelocityScore::Heads heads = score_.heads(point.x, t);
  const Tensor squared_error = (velocity - heads.velocity.value).square();
  const Tensor variance_error = squared_error.detach() - 1 - heads.excess_variance.value;
  const Tensor loss = (squared_error + 0.5 * variance_error.square()).mean(1);
  return {probe_weight_ > 0 ? loss + probe_loss(batch.x0, t, generator) : loss, {}};
}

Tensor OneSidedVelocityObjective::probe_loss(const Tensor& x0, const Tensor& t,
                                             at::Generator& generator) const {
  const int64_t n = t.size(0), probes = std::max<int64_t>(1, n / rows_a_probe);
  const double neighbours = static_cast<double>(n) / static_cast<double>(probes);
  const Tensor place = at::arange(probes, t.options()) + uniform({probes}, t.options(), generator);
  const Tensor rows = (neighbours * place).to(torch::kInt64).clamp_max(n - 1);
  const Tensor error = probed_error(x0.index_select(0, rows), t.index_select(0, rows), generator);
  const Tensor loss = 0.5 * probe_weight_ * neighbours * error.square().mean(1);
  return at::zeros({n}, t.options()).index_add(0, rows, loss);
}

Tensor OneSidedVelocityObjective::probed_error(const Tensor& x, const Tensor& t,
                                               at::Generator& generator) const {
  const Tensor probe = random_signs(x.sizes(), x.options(), generator);
  Tensor slope;
  {
    const torch::NoGradGuard no_grad;
    slope = probe * score_.heads({x, probe}, t).velocity.tangent;
  }
  const Tensor angle = score_.turn(t).angle;
  return angle.cos() * score_.heads(x, t).excess_variance.value + angle.sin() * slope;
}

}  // namespace dre
