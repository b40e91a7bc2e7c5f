#include "dre/objective/velocity.h"

namespace dre {

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

OneSidedVelocityObjective::OneSidedVelocityObjective(const OneSidedVelocityScore& score)
    : score_(score) {}

Terms OneSidedVelocityObjective::terms(const Batch& batch, const Tensor& t,
                                       at::Generator& generator) const {
  const BridgePoint point = draw_point(score_.bridge(), batch.x0, batch.x1, t, generator);
  const Tensor sigma_first = point.at.log_sigma_rate() * point.at.sigma();
  const Tensor rate = score_.turn(t).rate;  // the score speaks in units of theta
  const Tensor velocity = (point.drift + sigma_first * point.noise) / rate;
  const OneSidedVelocityScore::Heads heads = score_.heads(point.x, t);
  const Tensor squared_error = (velocity - heads.velocity.value).square();
  const Tensor variance_error = squared_error.detach() - 1 - heads.excess_variance.value;
  return {(squared_error + 0.5 * variance_error.square()).mean(1), {}};
}

}  // namespace dre
