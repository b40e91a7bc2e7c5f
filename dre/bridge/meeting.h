/// Two one-sided bridges end to end.
#pragma once

#include "dre/bridge/bridge.h"

namespace dre {

/// Where a point cos(theta) x + sin(theta) eps of a trigonometric bridge to N(0, I) is.
struct Turn {
  Tensor angle;  ///< theta, from 0 to a quarter turn
  Tensor rate;   ///< d theta / dt
};

/// Two one-sided trigonometric bridges that meet in N(0, I) at t = 1/2: cos(theta) x0 + sin(theta)
/// eps before and cos(theta) x1 + sin(theta) eps after, theta = pi min(t, 1 - t). No point is a
/// mixture of both sides, and each half is a task that does not know of the other.
class MeetingBridge final : public Bridge {
 public:
  Coefficients at(const Tensor& t) const override;
  bool has_noise() const override { return true; }

  Turn turn(const Tensor& t) const;
};

}  // namespace dre
