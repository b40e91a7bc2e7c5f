/// Chebyshev polynomials in time.
#pragma once

#include <torch/types.h>

#include <cstdint>

#include "dre/base/context.h"

namespace dre {

/// T_1 ... T_K at 2t - 1 with their derivatives by t: t: [n] -> [n, K] each.
struct Chebyshev {
  Tensor value, first, second;
};

Chebyshev chebyshev(const Tensor& t, int64_t count);

}  // namespace dre
