/// The guard of rules that are differentiable once.
#pragma once

#include <torch/types.h>

#include "dre/base/error.h"

namespace dre {

/// Called in a backward: a second derivative would come out wrong in silence.
inline void check_first_derivative(const char* rule) {
  check(!torch::GradMode::is_enabled(), rule,
        " was differentiated with create_graph, but is differentiable once; pass a tangent for the "
        "second derivative");
}

}  // namespace dre
