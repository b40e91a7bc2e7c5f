/// One step of Adam over all parameters in one pass over memory, on CUDA.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace dre::kernels {

/// [count] each.
struct AdamState {
  float* weights;
  const float* gradient;
  float* mean;
  float* square;
  float* average;
  int64_t count;
};

struct AdamConstants {
  float beta1, beta2, clip;  ///< clip 0: none
};

/// factors: the row of Adam's plan for this step; norm: of the gradient. Both on the device, so
/// that a recorded step can be replayed.
void adam_step(const AdamState& state, const AdamConstants& constants, const float* factors,
               const float* norm, cudaStream_t stream);

}  // namespace dre::kernels
