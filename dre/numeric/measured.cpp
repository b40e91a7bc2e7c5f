#include "dre/numeric/measured.h"

#include <cmath>

namespace dre {

double Measured::shrunk() const {
  const double noise = 2 * standard_error;
  return std::abs(value) > noise ? value * (1 - noise * noise / (value * value)) : 0;
}

Measured mean_of(const Tensor& values) {
  const Tensor v = values.to(torch::kCPU, torch::kFloat64);
  const double mean = v.mean().item<double>();
  if (v.size(0) < 2) return {mean, NAN};
  return {mean, v.std().item<double>() / std::sqrt(static_cast<double>(v.size(0)))};
}

nlohmann::json to_json(const Measured& number) {
  return {{"value", number.value}, {"standard_error", number.standard_error}};
}

}  // namespace dre
