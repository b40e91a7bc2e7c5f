/// Training inside of a program that computes without gradients.
#pragma once

#include <ATen/core/grad_mode.h>
#include <c10/core/InferenceMode.h>

#include "dre/base/error.h"

namespace dre {

/// As long as it lives, this thread records what it computes, whatever the caller has set: programs
/// that only rate rows have a torch::NoGradGuard around everything.
class WithGradients final {
 public:
  WithGradients() : mode_(true) {
    check(!c10::InferenceMode::is_enabled(),
          "training needs gradients, which torch::InferenceMode forbids for good; use "
          "torch::NoGradGuard instead, or none");
  }

 private:
  at::AutoGradMode mode_;
};

}  // namespace dre
