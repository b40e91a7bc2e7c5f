#include "dre/density/spline_kernel.h"

namespace dre::kernels {
namespace {

constexpr int threads = 128;

template <class T>
__global__ void evaluate(SplinePlaces<T> in, SplineShape shape, bool inverse, T* value,
                         T* log_derivative) {
  const int64_t i = blockIdx.x * static_cast<int64_t>(threads) + threadIdx.x;
  if (i >= in.groups * in.places) return;
  const int64_t first = i / in.places * (3 * shape.bins - 1) * in.places + i % in.places;
  const PlaceValue<T> found =
      spline_at<T>(in.x[i], inverse, {in.numbers + first, in.places}, shape);
  value[i] = found.value;
  log_derivative[i] = found.log_derivative;
}

template <class T>
__global__ void backward(SplinePlaces<T> in, SplineShape shape, const T* of_value, const T* of_log,
                         T* of_x, T* of_numbers) {
  const int64_t i = blockIdx.x * static_cast<int64_t>(threads) + threadIdx.x;
  if (i >= in.groups * in.places) return;
  const int64_t first = i / in.places * (3 * shape.bins - 1) * in.places + i % in.places;
  of_x[i] = spline_backward_at<T>(in.x[i], {in.numbers + first, in.places}, shape, of_value[i],
                                  of_log[i], {of_numbers + first, in.places});
}

template <class T>
int blocks(const SplinePlaces<T>& in) {
  return static_cast<int>((in.groups * in.places + threads - 1) / threads);
}

}  // namespace

template <class T>
void spline_evaluate(const SplinePlaces<T>& in, const SplineShape& shape, bool inverse, T* value,
                     T* log_derivative, cudaStream_t stream) {
  evaluate<T><<<blocks(in), threads, 0, stream>>>(in, shape, inverse, value, log_derivative);
}

template <class T>
void spline_backward(const SplinePlaces<T>& in, const SplineShape& shape, const T* of_value,
                     const T* of_log, T* of_x, T* of_numbers, cudaStream_t stream) {
  backward<T><<<blocks(in), threads, 0, stream>>>(in, shape, of_value, of_log, of_x, of_numbers);
}

template void spline_evaluate(const SplinePlaces<float>&, const SplineShape&, bool, float*, float*,
                              cudaStream_t);
template void spline_evaluate(const SplinePlaces<double>&, const SplineShape&, bool, double*,
                              double*, cudaStream_t);
template void spline_backward(const SplinePlaces<float>&, const SplineShape&, const float*,
                              const float*, float*, float*, cudaStream_t);
template void spline_backward(const SplinePlaces<double>&, const SplineShape&, const double*,
                              const double*, double*, double*, cudaStream_t);

}  // namespace dre::kernels
