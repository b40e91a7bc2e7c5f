/// What a fitted thing can say: a network, the formula that reads its outputs, and the Gaussian
/// reference path it corrects.
///
/// A concrete score offers some of four abilities: the time score, the data score, the flow field,
/// or the log-ratio itself. Who needs one asks for it: `ability<DataScore>(score)`.
#pragma once

#include <memory>

#include "dre/bridge/gaussian_path.h"
#include "dre/dual/dual.h"
#include "dre/network/network.h"

namespace dre {

struct ScoreParts {
  std::shared_ptr<Network> network;
  BridgePtr bridge;
  ReferencePtr reference;  ///< null: the network says everything by itself
  int64_t dimension;
};

class Score {
 public:
  virtual ~Score() = default;

  Network& network() { return *parts_.network; }
  const Network& network() const { return *parts_.network; }
  const Bridge& bridge() const { return *parts_.bridge; }
  const GaussianPath* reference() const { return parts_.reference.get(); }
  int64_t dimension() const { return parts_.dimension; }

 protected:
  explicit Score(ScoreParts parts);

  /// The network's outputs at (x, t), checked for shape: x: [n, d], t: [n, 1] or undefined.
  Dual outputs(const Dual& x, const Dual& t) const;

 private:
  ScoreParts parts_;
};

/// Time score d/dt log p_t(x).
class TimeScore : public virtual Score {
 public:
  /// What is left of the time score when the reference path's is taken away. x: [n, d], t: [n, 1]
  /// -> [n].
  virtual Dual time_residual(const Dual& x, const Dual& t) const = 0;

  /// The whole time score.
  Dual time_score(const Dual& x, const Dual& t) const;
};

/// A time score that is a sum over coordinates.
class VectorTimeScore : public TimeScore {
 public:
  /// x: [n, d], t: [n, 1] -> [n, d]; the whole score, reference included.
  virtual Tensor coordinate_scores(const Tensor& x, const Tensor& t) const = 0;
};

/// Data score grad_x log p_t(x).
class DataScore : public virtual Score {
 public:
  /// x: [n, d], t: [n, 1] -> [n, d].
  virtual Dual data_score(const Dual& x, const Dual& t) const = 0;
};

/// The velocity whose flow carries p_0 to p_1, and its divergence.
struct FlowPoint {
  Dual velocity;      ///< [n, d], with its derivative along the tangent of x
  Tensor divergence;  ///< [n]
};

class FlowField : public virtual Score {
 public:
  /// x: [n, d], t: [n, 1].
  virtual FlowPoint flow(const Dual& x, const Tensor& t) const = 0;
};

/// The log-ratio without an integral, as classifiers give it.
class DirectRatio : public virtual Score {
 public:
  /// What is left of log r when the reference's closed form is taken away. x: [n, d] -> [n].
  virtual Tensor ratio_residual(const Tensor& x) const = 0;
};

/// The ability, or null where the score does not offer it.
template <class Ability>
const Ability* ability(const Score& score) {
  return dynamic_cast<const Ability*>(&score);
}

}  // namespace dre
