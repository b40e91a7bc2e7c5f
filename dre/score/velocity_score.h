/// Scores from conditional moments of the bridge's velocity u = dx_t/dt (method: velocity moments).
///
/// With eps^ = E[eps|x], u^ = E[u|x] and kappa_i = Cov(eps_i, u_i | x) the time score is
/// s = (eps^.u^ + sum kappa)/sigma - d sigma'/sigma. Written with the data score g = -eps^/sigma
/// and c_i = (kappa_i - sigma')/sigma all singular factors are gone, and it is the continuity
/// equation:
///
///     s = -g.u^ + sum_i c_i,   div u^ = -sum_i c_i.
#pragma once

#include "dre/bridge/meeting.h"
#include "dre/score/score.h"

namespace dre {

/// The three moments that the two-sided network learns, reference included; [n, d] each.
struct VelocityMoments {
  Dual data_score;   ///< g
  Dual velocity;     ///< u^
  Dual contraction;  ///< c, minus the divergence coordinate by coordinate
};

/// Three heads on a bridge with noise: residuals of g, of the drift E[a' x0 + b' x1 | x] and of c.
/// The velocity is the drift minus (sigma^2)'/2 g, which stays finite where sigma' does not.
class VelocityScore final : public TimeScore, public DataScore, public FlowField {
 public:
  explicit VelocityScore(ScoreParts parts);
  Dual time_residual(const Dual& x, const Dual& t) const override;
  Dual data_score(const Dual& x, const Dual& t) const override;
  FlowPoint flow(const Dual& x, const Tensor& t) const override;

  VelocityMoments moments(const Dual& x, const Dual& t) const;

 private:
  /// What the network adds to the reference's moments.
  VelocityMoments residuals(const Dual& x, const Dual& t) const;
};

/// Two heads for points cos(theta) x + sin(theta) eps: on the one-sided trigonometric bridge to a
/// denominator that is N(0, I), theta = pi t / 2, or on both halves of the meeting bridge. The
/// heads are u^ = E[dx/dtheta | x] and w_i = Var[dx_i/dtheta | x]. Then
///
///     s = dtheta/dt sum_i [ x_i u^_i + cot(theta) (u^_i^2 + w_i - 1) ],  g = -(x + cot(theta) u^),
///     div u^ = cot(theta) sum_i (1 - w_i).
///
/// Near theta = 0, u^ = O(theta) and w - 1 = O(theta^2); the heads are scaled by f = sin/sqrt(sin^2
/// + l^2) and f^2.
class OneSidedVelocityScore final : public TimeScore, public DataScore, public FlowField {
 public:
  explicit OneSidedVelocityScore(ScoreParts parts, double head_scale = 0.05);
  Dual time_residual(const Dual& x, const Dual& t) const override;
  Dual data_score(const Dual& x, const Dual& t) const override;
  FlowPoint flow(const Dual& x, const Tensor& t) const override;

  /// Heads in units of theta, [n, d] each.
  struct Heads {
    Dual velocity;         ///< u^
    Dual excess_variance;  ///< w - 1
  };
  Heads heads(const Dual& x, const Dual& t) const;

  /// Where the bridge is at t: [n, 1].
  Turn turn(const Tensor& t) const;

 private:
  /// The network's outputs before they are scaled. cot(theta) alone is infinite at theta = 0, where
  /// integrals and flows start; cot(theta) f is not.
  struct Raw {
    Dual velocity, excess_variance;  // u^ / f and (w - 1) / f^2, [n, d]
    Dual f, cot_f;                   // [n, 1]
    Dual rate;                       // dtheta/dt, [n, 1]
  };
  Raw raw(const Dual& x, const Dual& t) const;

  double head_scale_;             // l^2
  const MeetingBridge* meeting_;  // null on the one-sided bridge
};

}  // namespace dre
