/// A normalised density that is exact: an invertible map to a latent space in which it is N(0, I),
/// log p(x) = log N(f(x); 0, I) + log |det df/dx|.
#pragma once

#include <torch/types.h>

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "dre/base/context.h"
#include "dre/base/named_tensors.h"

namespace dre {

/// A point moved by an invertible map, with the log-determinant of the map there.
struct Moved {
  Tensor point;            ///< [n, d]
  Tensor log_determinant;  ///< [n]
};

class Density {
 public:
  virtual ~Density() = default;

  /// Which kind it is: a name of density_names().
  virtual std::string name() const = 0;
  virtual int64_t dimension() const = 0;

  /// Device and precision of its numbers; points must have the same.
  virtual torch::TensorOptions options() const = 0;

  /// z = f(x) and log |det df/dx|. x: [n, d]
  virtual Moved to_latent(const Tensor& x) const = 0;

  /// x = f^-1(z) and log |det df^-1/dz|. z: [n, d]
  virtual Moved from_latent(const Tensor& z) const = 0;

  /// x: [n, d] -> [n]; differentiable.
  Tensor log_prob(const Tensor& x) const;

  /// -> [n, d]. generator: on the density's device.
  Tensor sample(int64_t n, at::Generator& generator) const;

  /// What load_density() needs to make it again.
  virtual nlohmann::json description() const = 0;
  virtual NamedTensors tensors() const = 0;
};

using DensityPtr = std::shared_ptr<Density>;

/// log N(z; 0, I). z: [n, d] -> [n]
Tensor standard_normal_log_prob(const Tensor& z);

/// Throws unless x is [n, d] with d = `dimension`.
void check_rows(const Tensor& x, int64_t dimension);

}  // namespace dre
