#include "dre/score/velocity_score.h"

#include <cmath>
#include <utility>

#include "dre/base/error.h"
#include "dre/score/reference.h"

namespace dre {
namespace {

constexpr double quarter_turn = M_PI / 2;  // theta = quarter_turn * t

}  // namespace

VelocityScore::VelocityScore(ScoreParts parts, std::optional<double> head_scale)
    : Score(std::move(parts)), head_scale_(head_scale) {
  check(bridge().has_noise(),
        "velocity moments need a bridge with noise (brownian, dequantified), or a one-sided one");
}

VelocityMoments VelocityScore::residuals(const Dual& x, const Dual& t) const {
  const int64_t d = dimension();
  const std::vector<Dual> heads = split(outputs(x, t), {d, d, d});
  const Coefficients at = bridge().at(t.value);
  const Dual half_rate = along(0.5 * at.variance.first, 0.5 * at.variance.second, t);
  if (!head_scale_) return {heads[0], heads[1] - half_rate * heads[0], heads[2]};
  const Tensor root = (at.variance.value + *head_scale_).rsqrt();
  const Dual fine = along(root, -half_rate.value * root.pow(3), t);
  const Dual speed = along(at.b.first, at.b.second, t);
  const Dual data_score = fine * heads[0];
  return {data_score, speed * heads[1] - half_rate * data_score, speed * square(fine) * heads[2]};
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
    : Score(std::move(parts)), head_scale_(head_scale) {
  check(!reference(),
        "the one-sided velocity score is itself relative to N(0, I) and takes no reference path");
}

OneSidedVelocityScore::Raw OneSidedVelocityScore::raw(const Dual& x, const Dual& t) const {
  const int64_t d = dimension();
  const std::vector<Dual> out = split(outputs(x, t), {d, d});
  const Tensor theta = quarter_turn * t.value;
  const Tensor sine = theta.sin(), cosine = theta.cos();
  const Tensor norm = sine * sine + head_scale_;
  const Tensor root = norm.rsqrt(), rate = quarter_turn * norm.pow(-1.5);
  // f = sin (sin^2 + l^2)^(-1/2), so df/dtheta = cos l^2 (sin^2 + l^2)^(-3/2); cot f likewise.
  return {out[0], out[1], along(sine * root, rate * cosine * head_scale_, t),
          along(cosine * root, -rate * sine * (1 + head_scale_), t)};
}

OneSidedVelocityScore::Heads OneSidedVelocityScore::heads(const Dual& x, const Dual& t) const {
  const Raw r = raw(x, t);
  return {r.f * r.velocity, square(r.f) * r.excess_variance};
}

Dual OneSidedVelocityScore::time_residual(const Dual& x, const Dual& t) const {
  const Raw r = raw(x, t);
  const Dual spread = r.cot_f * (square(r.velocity) + r.excess_variance);
  return sum(r.f * (x * r.velocity + spread), 1) * quarter_turn;
}

Dual OneSidedVelocityScore::data_score(const Dual& x, const Dual& t) const {
  const Raw r = raw(x, t);
  return -(x + r.cot_f * r.velocity);
}

FlowPoint OneSidedVelocityScore::flow(const Dual& x, const Tensor& t) const {
  const Raw r = raw(x, t);
  const Tensor divergence = -(r.cot_f * r.f * r.excess_variance).value.sum(1);
  return {r.f * r.velocity * quarter_turn, divergence * quarter_turn};
}

}  // namespace dre
