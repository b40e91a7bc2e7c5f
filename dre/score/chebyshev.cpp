#include "dre/score/chebyshev.h"

#include <vector>

namespace dre {

Chebyshev chebyshev(const Tensor& t, int64_t count) {
  const Tensor z = 2 * t - 1;
  const Tensor zero = torch::zeros_like(z), one = torch::ones_like(z);
  // T_(k+1) = 2 z T_k - T_(k-1), differentiated twice; the chain rule gives factors 2 and 4.
  std::vector<Tensor> value{one, z}, first{zero, one}, second{zero, zero};
  for (int64_t k = 1; k < count; ++k) {
    value.push_back(2 * z * value[k] - value[k - 1]);
    first.push_back(2 * value[k] + 2 * z * first[k] - first[k - 1]);
    second.push_back(4 * first[k] + 2 * z * second[k] - second[k - 1]);
  }
  const auto columns = [&](const std::vector<Tensor>& all) {
    return torch::stack(std::vector<Tensor>(all.begin() + 1, all.begin() + 1 + count), 1);
  };
  return {columns(value), 2 * columns(first), 4 * columns(second)};
}

}  // namespace dre
