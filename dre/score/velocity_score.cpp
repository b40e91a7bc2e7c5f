#include "dre/score/velocity_score.h"

#include <cmath>
#include <utility>

#include "dre/base/error.h"
#include "dre/score/reference.h"

namespace dre {
namespace {

constexpr double quarter_turn = M_PI / 2;

/// Whether points are cos(theta) x0 + sin(theta) eps with theta = pi t / 2.
bool is_one_sided_trigonometric(const Bridge& bridge) {
  const Tensor t = torch::tensor({0.0, 0.3, 0.7, 1.0}, torch::kFloat64);
  const Tensor theta = quarter_turn * t;
  const Coefficients c = bridge.at(t);
  return torch::allclose(c.a.value, theta.cos()) && torch::allclose(c.b.value, 0 * t) &&
         torch::allclose(c.variance.value, theta.sin().square());
}

}  // namespace

VelocityScore::VelocityScore(ScoreParts parts) : Score(std::move(parts)) {
  check(bridge().has_noise(),
        "velocity moments need a bridge with noise (brownian, dequantified), or a one-sided one");
}

VelocityMoments VelocityScore::residuals(const Dual& x, const Dual& t) const {
  const int64_t d = dimension();
  const std::vector<Dual> heads = split(outputs(x, t), {d, d, d});
  const Coefficients at = bridge().at(t.value);
  const Dual half_rate = along(0.5 * at.variance.first, 0.5 * at.variance.second, t);
  return {heads[0], heads[1] - half_rate * heads[0], heads[2]};
}

VelocityMoments VelocityScore::moments(const Dual& x, const Dual& t) const {
  const VelocityMoments own = residuals(x, t);
  if (!reference()) return own;
  return {own.data_score + reference_data_score(*reference(), x, t),
          own.velocity + reference_velocity(*reference(), x, t),
          own.contraction + reference_contraction(*reference(), x, t)};
}

Dual VelocityScore::time_residual(const Dual& x, const Dual& t) const {
  const VelocityMoments own = residuals(x, t);
  const Dual alone = own.contraction - own.data_score * own.velocity;
  if (!reference()) return sum(alone, 1);
  // The reference satisfies the continuity equation too, so its own terms cancel. Left out, they
  // cost no digits: in float32 the difference of the two whole scores would be mostly rounding.
  const Dual data_score = reference_data_score(*reference(), x, t);
  const Dual velocity = reference_velocity(*reference(), x, t);
  return sum(alone - own.data_score * velocity - data_score * own.velocity, 1);
}

Dual VelocityScore::data_score(const Dual& x, const Dual& t) const {
  return moments(x, t).data_score;
}

FlowPoint VelocityScore::flow(const Dual& x, const Tensor& t) const {
  const VelocityMoments m = moments(x, t);
  return {m.velocity, -m.contraction.value.sum(1)};
}

OneSidedVelocityScore::OneSidedVelocityScore(ScoreParts parts, double head_scale)
    : Score(std::move(parts)),
      head_scale_(head_scale),
      meeting_(dynamic_cast<const MeetingBridge*>(&bridge())) {
  check(!reference(),
        "the one-sided velocity score is itself relative to N(0, I) and takes no reference path");
  check(meeting_ || is_one_sided_trigonometric(bridge()),
        "the one-sided velocity score needs the trigonometric bridge wrapped in OneSidedBridge, or "
        "the meeting bridge");
}

Turn OneSidedVelocityScore::turn(const Tensor& t) const {
  if (meeting_) return meeting_->turn(t);
  return {quarter_turn * t, torch::full_like(t, quarter_turn)};
}

OneSidedVelocityScore::Raw OneSidedVelocityScore::raw(const Dual& x, const Dual& t) const {
  const int64_t d = dimension();
  const std::vector<Dual> out = split(outputs(x, t), {d, d});
  const auto [theta, turning] = turn(t.value);
  const Tensor sine = theta.sin(), cosine = theta.cos();
  const Tensor norm = sine * sine + head_scale_;
  const Tensor root = norm.rsqrt(), slope = turning * norm.pow(-1.5);
  // f = sin (sin^2 + l^2)^(-1/2), so df/dtheta = cos l^2 (sin^2 + l^2)^(-3/2); cot f likewise.
  return {out[0], out[1], along(sine * root, slope * cosine * head_scale_, t),
          along(cosine * root, -slope * sine * (1 + head_scale_), t), turning};
}

OneSidedVelocityScore::Heads OneSidedVelocityScore::heads(const Dual& x, const Dual& t) const {
  const Raw r = raw(x, t);
  return {r.f * r.velocity, square(r.f) * r.excess_variance};
}

Dual OneSidedVelocityScore::time_residual(const Dual& x, const Dual& t) const {
  const Raw r = raw(x, t);
  const Dual spread = r.cot_f * (square(r.velocity) + r.excess_variance);
  return sum(r.rate * r.f * (x * r.velocity + spread), 1);
}

Dual OneSidedVelocityScore::data_score(const Dual& x, const Dual& t) const {
  const Raw r = raw(x, t);
  return -(x + r.cot_f * r.velocity);
}

FlowPoint OneSidedVelocityScore::flow(const Dual& x, const Tensor& t) const {
  const Raw r = raw(x, t);
  const Dual divergence = r.rate * r.cot_f * r.f * r.excess_variance;
  return {r.rate * r.f * r.velocity, -divergence.value.sum(1)};
}

}  // namespace dre
