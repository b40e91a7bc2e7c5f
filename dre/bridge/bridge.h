/// Bridges: the continuum x_t = a(t) x0 + b(t) x1 + sigma(t) eps between numerator rows x0 (t = 0)
/// and denominator rows x1 (t = 1), eps ~ N(0, I).
#pragma once

#include <torch/types.h>

#include <memory>
#include <string>

#include "dre/base/context.h"
#include "dre/base/options.h"

namespace dre {

/// A function of time with its first two derivatives.
struct Jet {
  Tensor value, first, second;
};

/// The bridge's coefficients at some times. The noise is given by its variance sigma^2, which is
/// smooth where sigma itself is not.
struct Coefficients {
  Jet a, b, variance;

  Tensor sigma() const { return variance.value.sqrt(); }
  /// sigma' / sigma; infinite where the noise vanishes.
  Tensor log_sigma_rate() const { return variance.first / (2 * variance.value); }
};

/// Times between which all derivatives are finite.
struct Interval {
  double from = 0, to = 1;
  double length() const { return to - from; }
};

/// What stands at one end: a x0 + b x1 + sqrt(variance) eps.
struct End {
  double a, b, variance;
};

class Bridge {
 public:
  virtual ~Bridge() = default;

  /// t: any shape, inside interval() -> coefficients of that shape.
  virtual Coefficients at(const Tensor& t) const = 0;

  /// Where an end's derivatives are infinite the interval stops just short of it, and so do all
  /// integrals; the closed-form end correction of the ratio makes up for the difference.
  virtual Interval interval() const { return {}; }

  /// True where sigma > 0 inside the interval, so that p_t(x | x0, x1) has a density.
  virtual bool has_noise() const { return false; }

  End start() const { return end_at(interval().from); }
  End finish() const { return end_at(interval().to); }

 private:
  End end_at(double t) const;
};

using BridgePtr = std::shared_ptr<const Bridge>;

/// A point on the bridge, how it was made, and how it moves.
struct BridgePoint {
  Tensor x;         ///< x_t, [n, d]
  Tensor drift;     ///< a' x0 + b' x1, the mean part of the velocity, [n, d]
  Tensor noise;     ///< eps, [n, d]; undefined for bridges without noise
  Coefficients at;  ///< at t, [n, 1]
};

/// The point made from given parts. x0, x1: [n, d], noise: [n, d] or undefined for bridges without,
/// t: [n, 1].
BridgePoint point_at(const Bridge& bridge, const Tensor& x0, const Tensor& x1, const Tensor& noise,
                     const Tensor& t);

/// The same with fresh noise, drawn where x0 lies.
BridgePoint draw_point(const Bridge& bridge, const Tensor& x0, const Tensor& x1, const Tensor& t,
                       at::Generator& generator);

struct BridgeOptions {
  std::string bridge = "trigonometric";
  std::string curve = "linear";
  double noise = 1.4142135623730951;
  double smoothing = 1e-3;
  double beta_start = 0.1;
  double beta_end = 20;

  void visit(OptionVisitor& v) { visit(v, bridge_names()); }
  /// With other names allowed for the bridge than those that make one.
  void visit(OptionVisitor& v, const Names& names);

  /// All names that make a bridge.
  static Names bridge_names();
};

/// The bridge that the options name.
BridgePtr make_bridge(const BridgeOptions& options);

/// The same with all other options at their defaults.
BridgePtr make_bridge(const std::string& name);

}  // namespace dre
