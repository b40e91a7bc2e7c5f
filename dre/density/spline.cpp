#include "dre/density/spline.h"

#include "dre/base/error.h"
#include "dre/density/spline_place.h"

namespace dre {
namespace {

const SplineShape constants{};
const double least_share = constants.least_share, least_slope = constants.least_slope,
             slope_one = constants.slope_one;

/// Ends of bins whose shares of [-bound, bound] are a softmax. [rows, K] -> [rows, K + 1]
Tensor bin_ends(const Tensor& free, double bound) {
  const int64_t bins = free.size(1);
  const double left_over = 1 - least_share * static_cast<double>(bins);
  const Tensor shares = free.softmax(1).mul(left_over).add(least_share);
  const Tensor inner = shares.narrow(1, 0, bins - 1).cumsum(1).mul(2 * bound).sub(bound);
  const Tensor end = at::full({free.size(0), 1}, bound, free.options());
  return at::cat({-end, inner, end}, 1);
}

/// The inverse of bin_ends, where no share is too small.
Tensor bin_numbers(const Tensor& ends, double bound) {
  const auto bins = static_cast<double>(ends.size(1) - 1);
  const Tensor shares = ends.diff(1, 1) / (2 * bound);
  return ((shares - least_share) / (1 - least_share * bins)).clamp_min(1e-6).log();
}

/// What a bin's formula needs, at every point: each [rows, m].
struct Bin {
  Tensor x, width, y, height, left, right;  ///< lower corner, sizes, slopes at both ends
  Tensor mean_slope;                        ///< height / width
};

/// The bins that hold the points, by their places among `ends`, x or y of the knots.
Bin find_bin(const Tensor& points, const Tensor& ends, const SplineKnots& knots) {
  const int64_t bins = ends.size(1) - 1;
  const Tensor inner = ends.detach().narrow(1, 1, bins - 1).contiguous();
  const Tensor index = at::searchsorted(inner, points.detach().contiguous(), false, true);
  const Tensor next = index + 1;
  const auto pick = [](const Tensor& of, const Tensor& at) { return of.gather(1, at); };
  const Tensor x = pick(knots.x, index), y = pick(knots.y, index);
  const Tensor width = pick(knots.x, next) - x, height = pick(knots.y, next) - y;
  return {x, width, y, height, pick(knots.slope, index), pick(knots.slope, next), height / width};
}

/// log of the derivative where `place` in [0, 1] is the share of the bin's width to the left.
Tensor log_derivative(const Bin& bin, const Tensor& place) {
  const Tensor rest = 1 - place, product = place * rest;
  const Tensor above =
      bin.right * place.square() + 2 * bin.mean_slope * product + bin.left * rest.square();
  const Tensor below = bin.mean_slope + (bin.left + bin.right - 2 * bin.mean_slope) * product;
  return 2 * bin.mean_slope.log() + above.log() - 2 * below.log();
}

void check_spline(const Tensor& points, const SplineKnots& knots) {
  check(points.dim() == 2 && points.size(0) == knots.x.size(0), "points of ", knots.x.size(0),
        " splines must be [", knots.x.size(0), ", m], got ", points.sizes());
}

/// The tails are the identity. `formula` gets points that lie within the knots.
template <class Formula>
SplineValue inside_knots(const Tensor& points, const Tensor& ends, Formula formula) {
  const Tensor low = ends.narrow(1, 0, 1), high = ends.narrow(1, ends.size(1) - 1, 1);
  const Tensor outside = (points < low).logical_or(points > high);
  // Gradients of both branches are computed: the formula must not see points out of its reach.
  const SplineValue inner = formula(at::where(outside, at::zeros_like(points), points));
  return {at::where(outside, points, inner.value), inner.log_derivative.masked_fill(outside, 0)};
}

}  // namespace

SplineKnots spline_knots(const SplineNumbers& numbers, double bound) {
  const auto& [widths, heights, slopes] = numbers;
  const int64_t rows = widths.size(0), bins = widths.size(1);
  check(bins >= 2 && static_cast<double>(bins) * least_share < 1, "a spline needs between 2 and ",
        1 / least_share - 1, " bins, got ", bins);
  check(heights.sizes() == widths.sizes() && slopes.sizes() == torch::IntArrayRef({rows, bins - 1}),
        "splines of ", bins, " bins need heights ", widths.sizes(), " and slopes [", rows, ", ",
        bins - 1, "], got ", heights.sizes(), " and ", slopes.sizes());
  const Tensor inner = at::softplus(slopes + slope_one) + least_slope;
  const Tensor one = at::ones({rows, 1}, widths.options());
  return {bin_ends(widths, bound), bin_ends(heights, bound), at::cat({one, inner, one}, 1)};
}

SplineNumbers spline_numbers(const SplineKnots& knots, double bound) {
  const int64_t bins = knots.x.size(1) - 1;
  const Tensor excess = knots.slope.narrow(1, 1, bins - 1).clamp_min(2 * least_slope) - least_slope;
  return {bin_numbers(knots.x, bound), bin_numbers(knots.y, bound),
          excess.expm1().log() - slope_one};
}

SplineValue spline(const Tensor& x, const SplineKnots& knots) {
  check_spline(x, knots);
  return inside_knots(x, knots.x, [&](const Tensor& inner) -> SplineValue {
    const Bin bin = find_bin(inner, knots.x, knots);
    const Tensor place = (inner - bin.x) / bin.width, product = place * (1 - place);
    const Tensor above = bin.height * (bin.mean_slope * place.square() + bin.left * product);
    const Tensor below = bin.mean_slope + (bin.left + bin.right - 2 * bin.mean_slope) * product;
    return {bin.y + above / below, log_derivative(bin, place)};
  });
}

SplineValue spline_inverse(const Tensor& y, const SplineKnots& knots) {
  check_spline(y, knots);
  return inside_knots(y, knots.y, [&](const Tensor& inner) -> SplineValue {
    const Bin bin = find_bin(inner, knots.y, knots);
    const Tensor rise = inner - bin.y, bend = bin.left + bin.right - 2 * bin.mean_slope;
    // A root of a parabola, in the form that does not cancel.
    const Tensor a = bin.height * (bin.mean_slope - bin.left) + rise * bend;
    const Tensor b = bin.height * bin.left - rise * bend;
    const Tensor c = -bin.mean_slope * rise;
    const Tensor root = (b.square() - 4 * a * c).clamp_min(0).sqrt();
    const Tensor place = 2 * c / (-b - root);
    return {bin.x + place * bin.width, -log_derivative(bin, place)};
  });
}

}  // namespace dre
