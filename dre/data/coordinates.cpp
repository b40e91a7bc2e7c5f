#include "dre/data/coordinates.h"

#include <nlohmann/json.hpp>
#include <utility>

namespace dre {

Coordinates::Coordinates(ColumnTransforms columns, Basis basis)
    : columns_(std::move(columns)), basis_(std::move(basis)) {}

Coordinates Coordinates::fit(const Samples& numerator, const Samples& denominator,
                             const std::vector<std::string>& names,
                             const ColumnTransformOptions& options) {
  return fit(numerator, denominator, names, options, numerator, denominator);
}

Coordinates Coordinates::fit(const Samples& numerator, const Samples& denominator,
                             const std::vector<std::string>& names,
                             const ColumnTransformOptions& options, const Samples& noisy_numerator,
                             const Samples& noisy_denominator) {
  ColumnTransforms columns = ColumnTransforms::fit(numerator, denominator, names, options);
  const Samples first{columns.forward(noisy_numerator.x), noisy_numerator.weight};
  const Samples second{columns.forward(noisy_denominator.x), noisy_denominator.weight};
  Basis basis = Basis::fit(first, second, names);
  return Coordinates(std::move(columns), std::move(basis));
}

Tensor Coordinates::forward(const Tensor& raw, torch::ScalarType dtype) const {
  return basis_.forward(columns_.forward(raw), dtype);
}

NamedTensors Coordinates::tensors() const {
  NamedTensors all = columns_.tensors();
  for (const auto& tensor : basis_.tensors()) all.push_back(tensor);
  return all;
}

nlohmann::json Coordinates::description() const { return columns_.description(); }

Coordinates Coordinates::load(const NamedTensors& tensors, const nlohmann::json& description) {
  return Coordinates(ColumnTransforms::load(tensors, description), Basis::load(tensors));
}

}  // namespace dre
