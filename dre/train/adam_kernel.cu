#include <algorithm>

#include "dre/train/adam_kernel.h"

namespace dre::kernels {
namespace {

constexpr int threads = 256;

__global__ void adam_kernel(AdamState s, AdamConstants c, const float* factors, const float* norm) {
  const float rate = factors[0], square_scale = factors[1], blend = factors[2], decay = factors[3];
  const float shrink = c.clip > 0 ? fminf(1.0f, c.clip / (*norm + 1e-12f)) : 1.0f;
  const int64_t stride = static_cast<int64_t>(gridDim.x) * threads;
  for (int64_t i = blockIdx.x * static_cast<int64_t>(threads) + threadIdx.x; i < s.count;
       i += stride) {
    const float gradient = s.gradient[i] * shrink;
    const float mean = s.mean[i] + (gradient - s.mean[i]) * (1 - c.beta1);
    const float square = s.square[i] * c.beta2 + gradient * gradient * (1 - c.beta2);
    const float weight =
        s.weights[i] * (1 - decay) - rate * mean / (sqrtf(square) * square_scale + 1e-8f);
    s.mean[i] = mean;
    s.square[i] = square;
    s.weights[i] = weight;
    s.average[i] += (weight - s.average[i]) * blend;
  }
}

}  // namespace

void adam_step(const AdamState& state, const AdamConstants& constants, const float* factors,
               const float* norm, cudaStream_t stream) {
  const int64_t blocks = std::min<int64_t>((state.count + threads - 1) / threads, 132 * 16);
  adam_kernel<<<static_cast<int>(blocks), threads, 0, stream>>>(state, constants, factors, norm);
}

}  // namespace dre::kernels
