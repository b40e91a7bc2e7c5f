/// The CUDA kernels behind norm_silu: raw pointers, no LibTorch, so that they compile by
/// themselves.
///
/// Images lie channels last, [rows][pixels][channels]; everything that is a channel's alone is
/// float. A block handles one row: its group statistics never leave the multiprocessor, and the
/// second pass over the row finds it in the cache.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace dre::kernels {

struct NormShape {
  int rows, pixels, channels, groups;
  float eps;
};

/// Pointers to images of one element type. An output's tangent is null where none is asked for, an
/// input's where it is zero.
struct Images {
  const void* value;
  const void* tangent;
};
struct MutableImages {
  void* value;
  void* tangent;
};

/// [rows][channels] each, added to the images before the norm; null is zero.
struct Shifts {
  const float* value;
  const float* tangent;
};

/// What the backward pass writes besides the images' gradients, [rows][channels] each.
struct ChannelGradients {
  float* shift;
  float* shift_tangent;  ///< null without a tangent
  float* weight;
  float* bias;
};

enum class Element { float32, bfloat16 };

/// channels: a multiple of 4. stats: [rows][groups][4], for the backward pass.
void norm_silu_forward(Element element, const NormShape& shape, Images x, Shifts shift,
                       const float* weight, const float* bias, MutableImages y, float* stats,
                       cudaStream_t stream);

void norm_silu_backward(Element element, const NormShape& shape, Images x, Shifts shift,
                        const float* weight, const float* bias, const float* stats, Images gradient,
                        MutableImages x_gradient, ChannelGradients channels, cudaStream_t stream);

}  // namespace dre::kernels
