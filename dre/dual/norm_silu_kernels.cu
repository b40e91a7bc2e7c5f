#include <cuda_bf16.h>

#include <algorithm>

#include "dre/dual/norm_silu_kernels.h"

namespace dre::kernels {
namespace {

constexpr int threads = 512;
constexpr int lanes = 4;  // channels a thread handles at once

__device__ void load(const float* from, float (&to)[lanes]) {
  const float4 four = *reinterpret_cast<const float4*>(from);
  to[0] = four.x, to[1] = four.y, to[2] = four.z, to[3] = four.w;
}

__device__ void load(const __nv_bfloat16* from, float (&to)[lanes]) {
  const uint2 raw = *reinterpret_cast<const uint2*>(from);
  const auto low = *reinterpret_cast<const __nv_bfloat162*>(&raw.x);
  const auto high = *reinterpret_cast<const __nv_bfloat162*>(&raw.y);
  const float2 first = __bfloat1622float2(low), second = __bfloat1622float2(high);
  to[0] = first.x, to[1] = first.y, to[2] = second.x, to[3] = second.y;
}

template <class T>
__device__ void load_or_zero(const T* from, size_t at, float (&to)[lanes]) {
  if (from) return load(from + at, to);
  for (int j = 0; j < lanes; ++j) to[j] = 0;
}

__device__ void store(const float (&from)[lanes], float* to) {
  *reinterpret_cast<float4*>(to) = make_float4(from[0], from[1], from[2], from[3]);
}

__device__ void store(const float (&from)[lanes], __nv_bfloat16* to) {
  const __nv_bfloat162 low = __floats2bfloat162_rn(from[0], from[1]);
  const __nv_bfloat162 high = __floats2bfloat162_rn(from[2], from[3]);
  *reinterpret_cast<uint2*>(to) = make_uint2(*reinterpret_cast<const unsigned*>(&low),
                                             *reinterpret_cast<const unsigned*>(&high));
}

struct Jet {
  float value, slope, bend;
};

__device__ Jet silu(float x) {
  const float up = 1.0f / (1.0f + __expf(-x)), down = 1.0f - up;
  return {x * up, up * (1.0f + x * down), up * down * (2.0f + x * (down - up))};
}

/// Which channels and pixels of the row a thread handles.
struct Place {
  int columns, strands, column, strand;
  bool active;
  size_t start;  // of the row

  __device__ explicit Place(const NormShape& shape)
      : columns(shape.channels / lanes),
        strands(threads / columns),
        column(threadIdx.x % columns),
        strand(threadIdx.x / columns),
        active(strand < strands),
        start(static_cast<size_t>(blockIdx.x) * shape.pixels * shape.channels) {}

  __device__ int channel() const { return column * lanes; }

  template <class Body>
  __device__ void each_pixel(const NormShape& shape, Body&& body) const {
    if (!active) return;
    for (int pixel = strand; pixel < shape.pixels; pixel += strands)
      body(start + static_cast<size_t>(pixel) * shape.channels + channel());
  }
};

/// partial sums of each thread -> sums: [count][channels] in shared memory.
template <int count>
__device__ void sum_strands(const Place& place, const NormShape& shape,
                            const float (&partial)[count][lanes], float* scratch, float* sums) {
  if (place.active)
    for (int k = 0; k < count; ++k)
      store(partial[k],
            scratch + (k * place.strands + place.strand) * shape.channels + place.channel());
  __syncthreads();
  for (int i = threadIdx.x; i < count * shape.channels; i += threads) {
    const float* from = scratch + i / shape.channels * place.strands * shape.channels;
    float total = 0;
    for (int strand = 0; strand < place.strands; ++strand)
      total += from[strand * shape.channels + i % shape.channels];
    sums[i] = total;
  }
  __syncthreads();
}

struct Values {
  float of[lanes];

  __device__ Values(const float* channels, int channel) {
    for (int j = 0; j < lanes; ++j) of[j] = channels ? channels[channel + j] : 0.0f;
  }
};

const float* __device__ row_of(const float* all, int channels) {
  return all ? all + static_cast<size_t>(blockIdx.x) * channels : nullptr;
}

/// Statistics of a group: mean and scale of the value, mean of the tangent, and mean of unit value
/// times centred tangent.
struct Statistics {
  float mean, scale, mean_dot, slope;
};

__device__ Statistics read_statistics(const float* stats, int group) {
  const float4 four = reinterpret_cast<const float4*>(stats)[group];
  return {four.x, four.y, four.z, four.w};
}

template <class T, bool tangent>
__global__ void __launch_bounds__(threads)
    forward_kernel(NormShape shape, const T* x, const T* xdot, Shifts shift, const float* weight,
                   const float* bias, T* y, T* ydot, float* stats) {
  constexpr int count = tangent ? 4 : 2;
  extern __shared__ float shared[];
  float *sums = shared, *scratch = shared + count * shape.channels;
  const Place place(shape);
  const Values add(row_of(shift.value, shape.channels), place.channel());
  const Values add_dot(tangent ? row_of(shift.tangent, shape.channels) : nullptr, place.channel());
  float partial[count][lanes] = {};
  place.each_pixel(shape, [&](size_t at) {
    float v[lanes], w[lanes];
    load(x + at, v);
    if (tangent) load_or_zero(xdot, at, w);
    for (int j = 0; j < lanes; ++j) {
      v[j] += add.of[j];
      partial[0][j] += v[j];
      partial[1][j] += v[j] * v[j];
      if constexpr (tangent) {
        w[j] += add_dot.of[j];
        partial[2][j] += w[j];
        partial[3][j] += v[j] * w[j];
      }
    }
  });
  sum_strands(place, shape, partial, scratch, sums);
  const int width = shape.channels / shape.groups;
  float* own = stats + static_cast<size_t>(blockIdx.x) * shape.groups * 4;
  for (int group = threadIdx.x; group < shape.groups; group += threads) {
    float total[4] = {};
    for (int k = 0; k < count; ++k)
      for (int c = group * width; c < (group + 1) * width; ++c)
        total[k] += sums[k * shape.channels + c];
    const float size = 1.0f / (static_cast<float>(width) * shape.pixels);
    const float mean = total[0] * size, mean_dot = total[2] * size;
    const float scale = rsqrtf(fmaxf(total[1] * size - mean * mean, 0.0f) + shape.eps);
    const float slope = scale * (total[3] * size - mean * mean_dot);
    reinterpret_cast<float4*>(own)[group] = make_float4(mean, scale, mean_dot, slope);
  }
  __syncthreads();
  if (!place.active) return;
  const Values gain(weight, place.channel()), offset(bias, place.channel());
  Statistics at_channel[lanes];
  for (int j = 0; j < lanes; ++j)
    at_channel[j] = read_statistics(own, (place.channel() + j) / width);
  place.each_pixel(shape, [&](size_t at) {
    float v[lanes], w[lanes];
    load(x + at, v);
    if (tangent) load_or_zero(xdot, at, w);
    for (int j = 0; j < lanes; ++j) {
      const Statistics& s = at_channel[j];
      const float unit = (v[j] + add.of[j] - s.mean) * s.scale;
      const Jet jet = silu(gain.of[j] * unit + offset.of[j]);
      v[j] = jet.value;
      if constexpr (tangent) {
        const float moved = w[j] + add_dot.of[j] - s.mean_dot;
        w[j] = jet.slope * gain.of[j] * s.scale * (moved - unit * s.slope);
      }
    }
    store(v, y + at);
    if (tangent) store(w, ydot + at);
  });
}

// The backward pass. With unit value u, centred tangent w, scale s, slope m = mean(u w), gradients
// a of u and b of udot = s (w - u m), and means over the group,
//
//     gx    = s [ a - mean(a) - s m (b - mean(b)) - s B w - u Q ],  B = mean(b u),
//     gxdot = s [ b - mean(b) - B u ],                Q = mean(a u) + s mean(b w) - 3 s m B.

/// Sums over the pixels of a channel that the backward pass needs. gy and gydot are the gradients
/// of the normalised, scaled and shifted value and tangent.
enum Sum { sum_gy, sum_gy_u, sum_u, sum_gydot, sum_gydot_u, sum_gydot_w, sum_w };

/// Means over a group.
struct Means {
  float a, b, b_u, q;
};

template <class T, bool tangent>
__global__ void __launch_bounds__(threads)
    backward_kernel(NormShape shape, const T* x, const T* xdot, Shifts shift, const float* weight,
                    const float* bias, const float* stats, const T* gy, const T* gydot, T* gx,
                    T* gxdot, ChannelGradients out) {
  constexpr int count = tangent ? 7 : 3;
  extern __shared__ float shared[];
  float* sums = shared;
  auto* means = reinterpret_cast<Means*>(shared + count * shape.channels);
  float* scratch = shared + count * shape.channels + 4 * shape.groups;
  const Place place(shape);
  const int width = shape.channels / shape.groups;
  const float* own = stats + static_cast<size_t>(blockIdx.x) * shape.groups * 4;
  const Values add(row_of(shift.value, shape.channels), place.channel());
  const Values add_dot(tangent ? row_of(shift.tangent, shape.channels) : nullptr, place.channel());
  const Values gain(weight, place.channel()), offset(bias, place.channel());
  Statistics at_channel[lanes];
  for (int j = 0; j < lanes; ++j)
    at_channel[j] = read_statistics(own, (place.channel() + j) / width);

  // u, w and the gradients of the normalised value and tangent at four channels of a pixel.
  const auto pull = [&](size_t at, float(&u)[lanes], float(&w)[lanes], float(&g)[lanes],
                        float(&h)[lanes]) {
    load(x + at, u);
    load(gy + at, g);
    if (tangent) load_or_zero(xdot, at, w), load(gydot + at, h);
    for (int j = 0; j < lanes; ++j) {
      const Statistics& s = at_channel[j];
      u[j] = (u[j] + add.of[j] - s.mean) * s.scale;
      const Jet jet = silu(gain.of[j] * u[j] + offset.of[j]);
      g[j] *= jet.slope;
      if constexpr (tangent) {
        w[j] += add_dot.of[j] - s.mean_dot;
        g[j] += h[j] * jet.bend * gain.of[j] * s.scale * (w[j] - u[j] * s.slope);
        h[j] *= jet.slope;
      }
    }
  };

  float partial[count][lanes] = {};
  place.each_pixel(shape, [&](size_t at) {
    float u[lanes], w[lanes], g[lanes], h[lanes];
    pull(at, u, w, g, h);
    for (int j = 0; j < lanes; ++j) {
      partial[sum_gy][j] += g[j];
      partial[sum_gy_u][j] += g[j] * u[j];
      partial[sum_u][j] += u[j];
      if constexpr (tangent) {
        partial[sum_gydot][j] += h[j];
        partial[sum_gydot_u][j] += h[j] * u[j];
        partial[sum_gydot_w][j] += h[j] * w[j];
        partial[sum_w][j] += w[j];
      }
    }
  });
  sum_strands(place, shape, partial, scratch, sums);

  const auto sum_of = [&](int k, int channel) {
    return k < count ? sums[k * shape.channels + channel] : 0.0f;
  };
  for (int group = threadIdx.x; group < shape.groups; group += threads) {
    float a = 0, a_u = 0, b = 0, b_u = 0, b_w = 0;
    for (int c = group * width; c < (group + 1) * width; ++c) {
      a += weight[c] * sum_of(sum_gy, c);
      a_u += weight[c] * sum_of(sum_gy_u, c);
      b += weight[c] * sum_of(sum_gydot, c);
      b_u += weight[c] * sum_of(sum_gydot_u, c);
      b_w += weight[c] * sum_of(sum_gydot_w, c);
    }
    const float size = 1.0f / (static_cast<float>(width) * shape.pixels);
    const Statistics s = read_statistics(own, group);
    const float q = a_u + s.scale * (b_w - 3 * s.slope * b_u);
    means[group] = {a * size, b * size, b_u * size, q * size};
  }
  __syncthreads();

  const size_t row = static_cast<size_t>(blockIdx.x) * shape.channels;
  const float pixels = static_cast<float>(shape.pixels);
  for (int c = threadIdx.x; c < shape.channels; c += threads) {
    const Means& m = means[c / width];
    const Statistics s = read_statistics(own, c / width);
    const float dot = weight[c] * sum_of(sum_gydot, c) - pixels * m.b;
    out.bias[row + c] = sum_of(sum_gy, c);
    out.weight[row + c] =
        sum_of(sum_gy_u, c) + s.scale * (sum_of(sum_gydot_w, c) - s.slope * sum_of(sum_gydot_u, c));
    out.shift[row + c] =
        s.scale * (weight[c] * sum_of(sum_gy, c) - pixels * m.a - m.q * sum_of(sum_u, c) -
                   s.scale * (s.slope * dot + m.b_u * sum_of(sum_w, c)));
    if (tangent) out.shift_tangent[row + c] = s.scale * (dot - m.b_u * sum_of(sum_u, c));
  }

  place.each_pixel(shape, [&](size_t at) {
    float u[lanes], w[lanes], g[lanes], h[lanes];
    pull(at, u, w, g, h);
    for (int j = 0; j < lanes; ++j) {
      const Statistics& s = at_channel[j];
      const Means m = means[(place.channel() + j) / width];
      g[j] = gain.of[j] * g[j] - m.a - u[j] * m.q;
      if constexpr (tangent) {
        const float rest = gain.of[j] * h[j] - m.b;
        g[j] -= s.scale * (s.slope * rest + m.b_u * w[j]);
        h[j] = s.scale * (rest - m.b_u * u[j]);
      }
      g[j] *= s.scale;
    }
    store(g, gx + at);
    if (tangent && gxdot) store(h, gxdot + at);
  });
}

/// Floats of shared memory: sums, means and the strands' partial sums.
size_t shared_bytes(const NormShape& shape, int count) {
  const int columns = shape.channels / lanes, strands = threads / columns;
  return sizeof(float) * (static_cast<size_t>(count) * shape.channels * (1 + strands) +
                          4 * static_cast<size_t>(shape.groups));
}

template <class Kernel, class... Arguments>
void launch(Kernel* kernel, const NormShape& shape, int count, cudaStream_t stream,
            Arguments... arguments) {
  const size_t bytes = shared_bytes(shape, count);
  cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                       static_cast<int>(std::max<size_t>(bytes, 48 * 1024)));
  kernel<<<shape.rows, threads, bytes, stream>>>(shape, arguments...);
}

template <class T, bool tangent>
void forward(const NormShape& shape, Images x, Shifts shift, const float* weight, const float* bias,
             MutableImages y, float* stats, cudaStream_t stream) {
  launch(forward_kernel<T, tangent>, shape, tangent ? 4 : 2, stream, static_cast<const T*>(x.value),
         static_cast<const T*>(x.tangent), shift, weight, bias, static_cast<T*>(y.value),
         static_cast<T*>(y.tangent), stats);
}

template <class T, bool tangent>
void backward(const NormShape& shape, Images x, Shifts shift, const float* weight,
              const float* bias, const float* stats, Images gradient, MutableImages x_gradient,
              ChannelGradients channels, cudaStream_t stream) {
  launch(backward_kernel<T, tangent>, shape, tangent ? 7 : 3, stream,
         static_cast<const T*>(x.value), static_cast<const T*>(x.tangent), shift, weight, bias,
         stats, static_cast<const T*>(gradient.value), static_cast<const T*>(gradient.tangent),
         static_cast<T*>(x_gradient.value), static_cast<T*>(x_gradient.tangent), channels);
}

}  // namespace

void norm_silu_forward(Element element, const NormShape& shape, Images x, Shifts shift,
                       const float* weight, const float* bias, MutableImages y, float* stats,
                       cudaStream_t stream) {
  const bool tangent = y.tangent != nullptr, half = element == Element::bfloat16;
  const auto run = half ? (tangent ? forward<__nv_bfloat16, true> : forward<__nv_bfloat16, false>)
                        : (tangent ? forward<float, true> : forward<float, false>);
  run(shape, x, shift, weight, bias, y, stats, stream);
}

void norm_silu_backward(Element element, const NormShape& shape, Images x, Shifts shift,
                        const float* weight, const float* bias, const float* stats, Images gradient,
                        MutableImages x_gradient, ChannelGradients channels, cudaStream_t stream) {
  const bool tangent = gradient.tangent != nullptr, half = element == Element::bfloat16;
  const auto run = half ? (tangent ? backward<__nv_bfloat16, true> : backward<__nv_bfloat16, false>)
                        : (tangent ? backward<float, true> : backward<float, false>);
  run(shape, x, shift, weight, bias, stats, gradient, x_gradient, channels, stream);
}

}  // namespace dre::kernels
