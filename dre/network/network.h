/// A network: a function of point and time with trained parameters, and its directional derivative.
#pragma once

#include "dre/dual/dual.h"
#include "dre/network/parameters.h"

namespace dre {

class Network {
 public:
  virtual ~Network() = default;

  /// x: [n, inputs], t: [n, 1] (undefined for networks without time) -> [n, outputs].
  /// A tangent of x or t gives the output a tangent; one backward differentiates both.
  virtual Dual forward(const Dual& x, const Dual& t) const = 0;

  virtual Parameters& parameters() = 0;
  virtual const Parameters& parameters() const = 0;
  virtual int64_t outputs() const = 0;
};

/// Throws unless x is [n, inputs] and t is [n, 1], or undefined where `time` is false.
void check_point(const Dual& x, const Dual& t, int64_t inputs, bool time);

}  // namespace dre
