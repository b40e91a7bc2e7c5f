/// Monotone rational-quadratic splines (Gregory and Delbourgo 1982; Durkan et al. 2019): on every
/// bin a ratio of two parabolas that joins knots with given slopes, the identity outside.
#pragma once

#include <torch/types.h>

namespace dre {

using torch::Tensor;

/// `rows` splines of K bins: knots (x_k, y_k) with slopes, each [rows, K + 1]. The first knot is
/// (-bound, -bound), the last (bound, bound), both with slope 1, so that the tails join smoothly.
struct SplineKnots {
  Tensor x, y, slope;
};

/// Free numbers behind the knots: widths and heights [rows, K] through a softmax, slopes
/// [rows, K - 1] through softplus; no bin and no slope falls below a thousandth. All zeros give the
/// identity.
struct SplineNumbers {
  Tensor widths, heights, slopes;
};

SplineKnots spline_knots(const SplineNumbers& numbers, double bound);

/// The numbers whose knots are these, with bins and slopes that are too small made just large
/// enough. knots.x and .y rise from -bound to bound.
SplineNumbers spline_numbers(const SplineKnots& knots, double bound);

/// Values and logarithms of the derivative, both of the shape of the argument.
struct SplineValue {
  Tensor value, log_derivative;
};

/// x: [rows, m]; row i is mapped by spline i.
SplineValue spline(const Tensor& x, const SplineKnots& knots);

/// x with spline(x) = y, and the log-derivative of the inverse. y: [rows, m]
SplineValue spline_inverse(const Tensor& y, const SplineKnots& knots);

}  // namespace dre
