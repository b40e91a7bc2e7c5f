#include "dre/bridge/meeting.h"

#include <cmath>

namespace dre {
namespace {

/// 1 before t = 1/2, 0 from there on.
Tensor first_half(const Tensor& t) { return (t < 0.5).to(t.dtype()); }

Jet masked(const Jet& f, const Tensor& mask) {
  return {f.value * mask, f.first * mask, f.second * mask};
}

}  // namespace

Turn MeetingBridge::turn(const Tensor& t) const {
  // The rest of the way, not the whole of it: in single precision small angles keep their digits.
  return {M_PI * at::minimum(t, 1 - t), 2 * M_PI * first_half(t) - M_PI};
}

Coefficients MeetingBridge::at(const Tensor& t) const {
  const auto [theta, rate] = turn(t);
  const Tensor sine = theta.sin(), cosine = theta.cos(), before = first_half(t);
  const Jet side{cosine, -rate * sine, -M_PI * M_PI * cosine};
  return {masked(side, before),
          masked(side, 1 - before),
          {sine.square(), 2 * rate * sine * cosine,
           2 * M_PI * M_PI * (cosine.square() - sine.square())}};
}

}  // namespace dre
