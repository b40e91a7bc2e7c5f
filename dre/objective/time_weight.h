/// The weight lambda(t) >= 0 of score matching over time.
#pragma once

#include "dre/bridge/bridge.h"

namespace dre {

/// "one"; "parabola" t (1-t), which needs no boundary terms; "noise" 1 - a^2 + sigma^2, the
/// diffusion's own weight.
class TimeWeight final {
 public:
  TimeWeight(const std::string& name, BridgePtr bridge);

  /// t: any shape inside the bridge's interval.
  Jet at(const Tensor& t) const;

  static Names names();

 private:
  using Formula = Jet (*)(const Bridge&, const Tensor&);
  Formula formula_;
  BridgePtr bridge_;
};

}  // namespace dre
