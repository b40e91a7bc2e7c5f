/// Invertible maps with known volume change, which make shapes no Gaussian has.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace dre::pairs {

using torch::Tensor;

/// A one-to-one map from R^k onto R^d, or onto a k-dimensional surface in it.
class Map {
 public:
  virtual ~Map() = default;
  virtual int64_t inputs() const = 0;   ///< k
  virtual int64_t outputs() const = 0;  ///< d

  /// z: [n, k] -> [n, d]
  virtual Tensor forward(const Tensor& z) const = 0;

  /// x: [n, d] on the image -> [n, k]
  virtual Tensor inverse(const Tensor& x) const = 0;

  /// log sqrt(det J'J) of the Jacobian of `forward` at z: [n, k] -> [n]
  virtual Tensor log_volume(const Tensor& z) const = 0;
};

using MapPtr = std::shared_ptr<const Map>;

MapPtr identity(int64_t dimension);

/// exp of every coordinate: Gaussian becomes log-normal.
MapPtr exponential(int64_t dimension);

/// x_j += amplitude sin(frequency x_{j-1}) for the j of one parity, the index taken around the
/// circle; keeps volumes. Layers of both parities mix all coordinates. The dimension is even.
MapPtr wave(int64_t dimension, int64_t parity, double amplitude, double frequency);

/// `layers` waves of alternating parity.
MapPtr waves(int64_t dimension, int64_t layers, double amplitude, double frequency);

/// (x, w) -> (x, x + w); keeps volumes.
MapPtr additive();

/// Rotates the plane of two coordinates by the angle speed |x|^2; keeps lengths and volumes.
struct SpiralPlane {
  int64_t first = 0, second = 1;
};
MapPtr spiral(int64_t dimension, SpiralPlane plane, double speed);

/// The normal quantile scale rolled into the plane: z -> a (cos a, sin a) / 21 with the angle
/// a = 1.5 pi (1 + 2 Phi(z)).
MapPtr swiss_roll();

/// Each map acts on its own block of coordinates.
MapPtr beside(std::vector<MapPtr> maps);

/// The first map is applied first.
MapPtr composed(std::vector<MapPtr> maps);

}  // namespace dre::pairs
