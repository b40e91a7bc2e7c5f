/// Splines at many places, one thread each, on CUDA.
#pragma once

#include <cuda_runtime_api.h>

#include "dre/density/spline_place.h"

namespace dre::kernels {

/// `groups` of `places`: x and the outputs [groups, places], numbers [groups, 3 bins - 1, places].
template <class T>
struct SplinePlaces {
  const T* x;
  const T* numbers;
  int64_t groups, places;
};

/// inverse: x are the values whose points are wanted.
template <class T>
void spline_evaluate(const SplinePlaces<T>& in, const SplineShape& shape, bool inverse, T* value,
                     T* log_derivative, cudaStream_t stream);

template <class T>
void spline_backward(const SplinePlaces<T>& in, const SplineShape& shape, const T* of_value,
                     const T* of_log, T* of_x, T* of_numbers, cudaStream_t stream);

}  // namespace dre::kernels
