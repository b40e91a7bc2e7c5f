#include "dre/objective/conditional.h"

#include "dre/base/error.h"

namespace dre {
namespace {

void check_noise(const Bridge& bridge) {
  check(bridge.has_noise(),
        "conditional score matching needs a bridge with noise (brownian, dequantified), or a "
        "one-sided one");
}

}  // namespace

SecondMoments second_moments(const GaussianEnds& ends) {
  const auto mean = [](const Tensor& values) { return values.mean().item<double>(); };
  return {mean(ends.variance0 + ends.mean0.square()), mean(ends.mean0 * ends.mean1),
          mean(ends.variance1 + ends.mean1.square())};
}

ConditionalTarget conditional_target(const BridgePoint& point, const SecondMoments& moments) {
  const Coefficients& at = point.at;
  const Tensor sigma = at.sigma(), rate = at.log_sigma_rate();
  const Tensor drift_power = moments.x0x0 * at.a.first.square() +
                             2 * moments.x0x1 * at.a.first * at.b.first +
                             moments.x1x1 * at.b.first.square();
  const Tensor tau = rate * (point.noise.square() - 1) + point.noise * point.drift / sigma;
  return {tau, 1 / (2 * rate.square() + drift_power / at.variance.value), 1 / drift_power};
}

Interval open_interval(const Bridge& bridge) {
  const double margin = 1e-5;  // float32 still resolves 1 - t there
  const auto [from, to] = bridge.interval();
  return {from + margin, to - margin};
}

ConditionalObjective::ConditionalObjective(const TimeScore& score, SecondMoments moments)
    : score_(score), moments_(moments) {
  check_noise(score.bridge());
}

Terms ConditionalObjective::terms(const Batch& batch, const Tensor& t,
                                  at::Generator& generator) const {
  const BridgePoint point = draw_point(score_.bridge(), batch.x0, batch.x1, t, generator);
  const ConditionalTarget target = conditional_target(point, moments_);
  const Tensor s = score_.time_score(point.x, t).value;
  const Tensor error = target.tau.sum(1) - s;
  return {target.weight.squeeze(1) * error.square() / score_.dimension(), {}};
}

ConditionalVectorObjective::ConditionalVectorObjective(const VectorTimeScore& score,
                                                       SecondMoments moments)
    : score_(score), moments_(moments) {
  check_noise(score.bridge());
}

Terms ConditionalVectorObjective::terms(const Batch& batch, const Tensor& t,
                                        at::Generator& generator) const {
  const BridgePoint point = draw_point(score_.bridge(), batch.x0, batch.x1, t, generator);
  const ConditionalTarget target = conditional_target(point, moments_);
  const Tensor error = target.tau - score_.coordinate_scores(point.x, t);
  return {target.weight.squeeze(1) * error.square().mean(1), {}};
}

}  // namespace dre
