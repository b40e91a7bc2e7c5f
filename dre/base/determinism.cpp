#include "dre/base/determinism.h"

#include <ATen/Context.h>

#include <cstdlib>

namespace dre {

void use_repeatable_algorithms() {
  const bool replace_what_the_user_set = false;
  setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:8", replace_what_the_user_set);
  at::Context& torch = at::globalContext();
  torch.setDeterministicAlgorithms(true, /*warn_only=*/false);
  torch.setDeterministicCuDNN(true);
  torch.setBenchmarkCuDNN(false);
}

}  // namespace dre
