/// An estimated number and how sure it is.
#pragma once

#include <torch/types.h>

#include <nlohmann/json.hpp>

namespace dre {

using torch::Tensor;

struct Measured {
  double value = 0, standard_error = 0;

  /// The value shrunk to zero where it is within twice its standard error, and little changed where
  /// it is far outside: a correction that is itself mostly noise would do more harm than good.
  double shrunk() const;
};

/// Of independent numbers; nothing is known of the error of one. values: [n]
Measured mean_of(const Tensor& values);

/// {"value", "standard_error"}
nlohmann::json to_json(const Measured& number);

}  // namespace dre
