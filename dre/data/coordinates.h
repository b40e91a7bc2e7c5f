/// Working coordinates: each column mapped to standard scale, then the affine basis that makes both
/// sides' covariances diagonal. log r does not change under invertible maps, so everything else
/// works here.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "dre/data/basis.h"
#include "dre/data/column_transform.h"

namespace dre {

class Coordinates final {
 public:
  static Coordinates fit(const Samples& numerator, const Samples& denominator,
                         const std::vector<std::string>& names,
                         const ColumnTransformOptions& options);

  /// The columns' maps from the rows as they are, the basis from the rows with noise on their
  /// atoms.
  static Coordinates fit(const Samples& numerator, const Samples& denominator,
                         const std::vector<std::string>& names,
                         const ColumnTransformOptions& options, const Samples& noisy_numerator,
                         const Samples& noisy_denominator);

  /// raw: [n, columns] -> [n, coordinates] of the given type.
  Tensor forward(const Tensor& raw, torch::ScalarType dtype = torch::kFloat64) const;

  Samples forward(const Samples& raw) const { return {forward(raw.x), raw.weight}; }

  const std::vector<std::string>& names() const { return columns_.names(); }
  const ColumnTransforms& columns() const { return columns_; }
  const Basis& basis() const { return basis_; }

  NamedTensors tensors() const;
  nlohmann::json description() const;
  static Coordinates load(const NamedTensors& tensors, const nlohmann::json& description);

 private:
  Coordinates(ColumnTransforms columns, Basis basis);

  ColumnTransforms columns_;
  Basis basis_;
};

}  // namespace dre
