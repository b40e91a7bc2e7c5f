/// Scores that are exact for a Gaussian pair without any reference: every number comes out of the
/// network, so integrals and paths have all the work to do.
#pragma once

#include "dre/bridge/noise.h"
#include "dre/score/time_scores.h"
#include "dre/score/velocity_score.h"
#include "tests/support/exact_heads.h"

namespace dre::testing {

/// Parts with a network of `outputs` numbers that says `exact`.
inline ScoreParts exact_parts(Function exact, int64_t outputs, const BridgePtr& bridge, int64_t d,
                              ReferencePtr reference = nullptr) {
  auto network =
      std::make_shared<ExactNetwork>(std::move(exact), d, outputs, true, double_context());
  return {std::move(network), bridge, std::move(reference), d};
}

/// The path's time score plus `offset(t)`.
inline ScalarScore exact_time_score(const GaussianPath& path,
                                    const std::function<Tensor(const Tensor&)>& offset = {}) {
  const auto exact = [&path, offset](const Dual& x, const Dual& t) {
    const Tensor score = path.time_score(x.value, t.value).value.sum(1, true);
    return Dual(offset ? score + offset(t.value) : score);
  };
  return ScalarScore(exact_parts(exact, 1, path.bridge_pointer(), path.dimension()));
}

/// The path's scores, the time score plus `offset`.
inline JointScore exact_joint_score(const GaussianPath& path, double offset = 0) {
  const auto exact = [&path, offset](const Dual& x, const Dual& t) {
    return Dual(torch::cat({path.time_score(x.value, t.value).value.sum(1, true) + offset,
                            path.data_score(x.value, t.value).value},
                           1));
  };
  return JointScore(
      exact_parts(exact, 1 + path.dimension(), path.bridge_pointer(), path.dimension()));
}

inline VelocityScore exact_velocity_score(const GaussianEnds& ends, const BridgePtr& bridge) {
  const int64_t d = ends.mean0.size(0);
  return VelocityScore(exact_parts(velocity_heads(ends, bridge), 3 * d, bridge, d));
}

inline BridgePtr one_sided(const std::string& curve) {
  return std::make_shared<OneSidedBridge>(bridge_named(curve));
}

/// What the one-sided velocity score can be asked on, and ends that suit it.
struct TurningCase {
  const char* name;
  bool meeting;
  BridgePtr bridge;
  GaussianEnds (*ends)(int64_t d);
};

inline TurningCase on_one_sided() {
  return {"one-sided", false, one_sided("trigonometric"), one_sided_ends};
}

inline std::vector<TurningCase> turning_cases() {
  return {on_one_sided(), {"meeting", true, std::make_shared<MeetingBridge>(), gaussian_ends}};
}

inline OneSidedVelocityScore exact_one_sided_score(const GaussianEnds& ends,
                                                   const TurningCase& on) {
  const double head_scale = 0.05;
  const int64_t d = ends.mean0.size(0);
  return OneSidedVelocityScore(
      exact_parts(one_sided_heads(ends, head_scale, on.meeting), 2 * d, on.bridge, d), head_scale);
}

}  // namespace dre::testing
