/// One rational-quadratic spline at one point, in plain C++ for host and device: the free numbers
/// of dre/density/spline.h to value, log-derivative, and the gradient of both; and its inverse.
#pragma once

#include <cmath>
#include <cstdint>

#ifdef __CUDACC__
#define DRE_HOST_DEVICE __host__ __device__
#else
#define DRE_HOST_DEVICE
#endif

namespace dre {

/// More bins than this would not fit in a thread's own memory.
constexpr int most_place_bins = 32;

/// A sequence of numbers `stride` apart.
template <class T>
struct Strided {
  T* first;
  int64_t stride;
  DRE_HOST_DEVICE T& operator[](int i) const { return first[i * stride]; }
};

struct SplineShape {
  int bins;
  double bound;
  double least_share = 1e-3;  ///< of a bin in the interval
  double least_slope = 1e-3;

  /// The number whose slope is 1.
  double slope_one = std::log(std::expm1(1 - 1e-3));
};

template <class T>
struct PlaceValue {
  T value, log_derivative;
};

/// Shares of the bins by softmax, and which bin a point is in.
template <class T>
struct PlaceBins {
  T share[most_place_bins] = {};  ///< softmax, before the least share is added
  T spread;                       ///< what one unit of softmax is worth in length
  T floor;                        ///< least length

  DRE_HOST_DEVICE PlaceBins(const Strided<const T>& numbers, const SplineShape& shape)
      : spread(T(2 * shape.bound * (1 - shape.least_share * shape.bins))),
        floor(T(2 * shape.bound * shape.least_share)) {
    T top = numbers[0], total = 0;
    for (int i = 1; i < shape.bins; ++i) top = numbers[i] > top ? numbers[i] : top;
    for (int i = 0; i < shape.bins; ++i) {
      share[i] = std::exp(numbers[i] - top);
      total += share[i];
    }
    for (int i = 0; i < shape.bins; ++i) share[i] /= total;
  }
  DRE_HOST_DEVICE T length(int bin) const { return floor + spread * share[bin]; }
  DRE_HOST_DEVICE T start(int bin, T bound) const {
    T at = -bound;
    for (int i = 0; i < bin; ++i) at += length(i);
    return at;
  }

  /// Gradient with respect to the free numbers from that of a bin's start and length.
  DRE_HOST_DEVICE void backward(int bin, T of_start, T of_length, const SplineShape& shape,
                                const Strided<T>& gradient) const {
    T mean = 0;
    for (int i = 0; i <= bin; ++i) mean += share[i] * (i < bin ? of_start : of_length);
    for (int i = 0; i < shape.bins; ++i) {
      const T own = i < bin ? of_start : i == bin ? of_length : T(0);
      gradient[i] = spread * share[i] * (own - mean);
    }
  }
};

template <class T>
struct SplinePlace {
  PlaceBins<T> across, up;
  int bin = 0;
  T width, height, x, y;  ///< of the bin, and its lower corner
  T left, right;          ///< slopes at its ends
  T place;                ///< of the point in it, 0 to 1
  T slope;                ///< height / width
  T product, bend;        ///< place (1 - place), left + right - 2 slope
  T above, below;         ///< value = y + height above / below
  T tilt;                 ///< derivative = slope² tilt / below²

  /// numbers: widths, heights, slopes one after the other; `at`, within the bound, is the point, or
  /// the value that it has.
  DRE_HOST_DEVICE SplinePlace(T at, bool is_value, const Strided<const T>& numbers,
                              const SplineShape& shape)
      : across(numbers, shape), up(part(numbers, shape.bins), shape) {
    const PlaceBins<T>& searched = is_value ? up : across;
    const int last = shape.bins - 1;
    T start = T(-shape.bound);
    while (bin < last && at >= start + searched.length(bin)) start += searched.length(bin++);
    const Strided<const T> slopes = part(numbers, 2 * shape.bins);
    width = across.length(bin);
    height = up.length(bin);
    x = is_value ? across.start(bin, T(shape.bound)) : start;
    y = is_value ? start : up.start(bin, T(shape.bound));
    left = bin == 0 ? T(1) : slope_at(slopes[bin - 1], shape);
    right = bin == last ? T(1) : slope_at(slopes[bin], shape);
    slope = height / width;
    bend = left + right - 2 * slope;
    place = is_value ? place_of(at - y) : (at - x) / width;
    product = place * (1 - place);
    above = slope * place * place + left * product;
    below = slope + bend * product;
    tilt = right * place * place + 2 * slope * product + left * (1 - place) * (1 - place);
  }

  DRE_HOST_DEVICE T log_derivative() const {
    return 2 * std::log(slope) + std::log(tilt) - 2 * std::log(below);
  }
  DRE_HOST_DEVICE PlaceValue<T> value() const {
    return {y + height * above / below, log_derivative()};
  }
  DRE_HOST_DEVICE PlaceValue<T> inverse() const { return {x + place * width, -log_derivative()}; }

  /// The gradient of of_value * value + of_log * log_derivative: returned for x, written for the
  /// numbers.
  DRE_HOST_DEVICE T backward(T of_value, T of_log, const Strided<const T>& numbers,
                             const SplineShape& shape, const Strided<T>& gradient) const {
    const T ratio = above / below, turn = 1 - 2 * place, rest = 1 - place;
    // d/dθ of both, from the derivatives of above, below and tilt.
    const auto chain = [&](T d_above, T d_below, T d_tilt) {
      return of_value * height * (d_above - ratio * d_below) / below +
             of_log * (d_tilt / tilt - 2 * d_below / below);
    };
    const T of_place = chain(2 * slope * place + left * turn, bend * turn,
                             2 * (right * place + slope * turn - left * rest));
    const T of_slope = chain(place * place, 1 - 2 * product, 2 * product) + of_log * 2 / slope;
    const T of_left = chain(product, product, rest * rest);
    const T of_right = chain(0, product, place * place);
    const T of_x = of_place / width;
    across.backward(bin, -of_x, -(of_x * place + of_slope * slope / width), shape, gradient);
    up.backward(bin, of_value, of_value * ratio + of_slope / width, shape,
                part(gradient, shape.bins));
    const Strided<T> slopes = part(gradient, 2 * shape.bins);
    const Strided<const T> given = part(numbers, 2 * shape.bins);
    for (int i = 0; i + 1 < shape.bins; ++i) slopes[i] = 0;
    if (bin > 0) slopes[bin - 1] = of_left * growth(given[bin - 1], shape);
    if (bin + 1 < shape.bins) slopes[bin] = of_right * growth(given[bin], shape);
    return of_x;
  }

 private:
  /// The root of a parabola, in the form that does not cancel.
  DRE_HOST_DEVICE T place_of(T rise) const {
    const T a = height * (slope - left) + rise * bend, b = height * left - rise * bend;
    const T c = -slope * rise, under = b * b - 4 * a * c;
    return 2 * c / (-b - std::sqrt(under > 0 ? under : T(0)));
  }
  template <class U>
  DRE_HOST_DEVICE static Strided<U> part(const Strided<U>& all, int from) {
    return {all.first + from * all.stride, all.stride};
  }
  DRE_HOST_DEVICE static T slope_at(T number, const SplineShape& shape) {
    const T at = number + T(shape.slope_one);
    const T softplus = at > 0 ? at + std::log1p(std::exp(-at)) : std::log1p(std::exp(at));
    return softplus + T(shape.least_slope);
  }
  /// Derivative of slope_at.
  DRE_HOST_DEVICE static T growth(T number, const SplineShape& shape) {
    return 1 / (1 + std::exp(-(number + T(shape.slope_one))));
  }
};

/// The identity beyond the bound.
template <class T>
DRE_HOST_DEVICE bool outside(T x, const SplineShape& shape) {
  return !(x >= T(-shape.bound) && x <= T(shape.bound));
}

/// inverse: `at` is a value, and the answer its point with the inverse's log-derivative.
template <class T>
DRE_HOST_DEVICE PlaceValue<T> spline_at(T at, bool inverse, const Strided<const T>& numbers,
                                        const SplineShape& shape) {
  if (outside(at, shape)) return {at, T(0)};
  const SplinePlace<T> place(at, inverse, numbers, shape);
  return inverse ? place.inverse() : place.value();
}

/// Gradient of of_value * value + of_log * log_derivative with respect to x, and, written, to the
/// numbers.
template <class T>
DRE_HOST_DEVICE T spline_backward_at(T x, const Strided<const T>& numbers, const SplineShape& shape,
                                     T of_value, T of_log, const Strided<T>& gradient) {
  if (outside(x, shape)) {
    for (int i = 0; i < 3 * shape.bins - 1; ++i) gradient[i] = 0;
    return of_value;
  }
  return SplinePlace<T>(x, false, numbers, shape)
      .backward(of_value, of_log, numbers, shape, gradient);
}

}  // namespace dre
