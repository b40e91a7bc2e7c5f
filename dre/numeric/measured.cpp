#include "dre/numeric/measured.h"

#include <cmath>

namespace dre {

double Measured::shrunk() const {
  const double noise = 2 * standard_error;
  return std::abs(value) > noise ? value * (1 - noise * noise / (value * value)) : 0;
}

Measured mean_of(const Tensor& values) {
  const Tensor v = values.to(torch::kCPU, torch::kFloat64);
  return {v.mean().item<double>(),
          v.std().item<double>() / std::sqrt(static_cast<double>(v.size(0)))};
}

nlohmann::json to_json(const Measured& number) {
  return {{"value", number.value}, {"standard_error", number.standard_error}};
}

}  // namespace dre
