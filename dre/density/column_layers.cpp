#include "dre/density/column_layers.h"

#include "dre/base/error.h"
#include "dre/density/gaussian_density.h"
#include "dre/density/spline_place.h"

namespace dre {
namespace {

Tensor zeros(Parameters& parameters, const std::string& name, torch::IntArrayRef shape,
             const Context& context) {
  return parameters.add(name, at::zeros(shape, context.options()));
}

/// Splines work on rows of their own: [n, d] <-> [d, n].
Moved back_to_rows(const SplineValue& columns) {
  return {columns.value.t(), columns.log_derivative.sum(0)};
}

constexpr int64_t rows_for_a_bin = 16;

/// Between the order statistics. sorted: [n, d], shares: [k] -> [k, d]
Tensor sorted_quantiles(const Tensor& sorted, const Tensor& shares) {
  const int64_t last = sorted.size(0) - 1;
  const Tensor place = shares * static_cast<double>(last);
  const Tensor left = place.floor().to(torch::kInt64).clamp(0, last - 1);
  const Tensor below = sorted.index_select(0, left), above = sorted.index_select(0, left + 1);
  return below + (above - below) * (place - left).unsqueeze(1);
}

/// The harmonic mean of the slopes of the bins on both sides, which are no narrower than bins can
/// be; 1 at the ends.
Tensor knot_slopes(const SplineKnots& knots, double bound) {
  const double least = 2 * bound * SplineShape{}.least_share;
  const Tensor inverse = knots.x.diff(1, 1).clamp_min(least) / knots.y.diff(1, 1);
  const int64_t inner = inverse.size(1) - 1;
  const Tensor slope = 2 / (inverse.narrow(1, 0, inner) + inverse.narrow(1, 1, inner));
  return at::constant_pad_nd(slope, {1, 1}, 1);
}

}  // namespace

Affine::Affine(Parameters& parameters, const std::string& name, int64_t count, double reach,
               const Context& context)
    : reach_(reach),
      shift_(zeros(parameters, name + ".shift", {count}, context)),
      log_scale_(zeros(parameters, name + ".log_scale", {count}, context)) {}

Tensor Affine::broadcast(const Tensor& values, const Tensor& x) const {
  check(x.dim() >= 2 && x.size(1) == values.size(0), "this layer works on [n, ", values.size(0),
        ", ...], got ", x.sizes());
  std::vector<int64_t> shape(static_cast<size_t>(x.dim() - 1), 1);
  shape[0] = values.size(0);
  return values.view(shape);
}

Tensor Affine::log_determinant(const Tensor& x) const {
  const auto places = static_cast<double>(x[0].numel() / x.size(1));
  return for_rows(log_scale_.sum() * places, x);
}

Moved Affine::forward(const Tensor& x) const {
  const Tensor point = (x + broadcast(shift_, x)) * broadcast(log_scale_, x).exp();
  return {point, log_determinant(x)};
}

Moved Affine::inverse(const Tensor& y) const {
  const Tensor point = y * (-broadcast(log_scale_, y)).exp() - broadcast(shift_, y);
  return {point, -log_determinant(y)};
}

void Affine::initialise(const Tensor& x) {
  const torch::NoGradGuard no_grad;
  const Tensor columns = x.transpose(0, 1).flatten(1).to(torch::kFloat64);
  const Tensor low = columns.amin(1), high = columns.amax(1);
  const Tensor middle = reach_ > 0 ? (low + high) / 2 : columns.mean(1);
  const Tensor spread = reach_ > 0 ? (high - low) / (2 * reach_) : columns.std(1, false);
  shift_.copy_(-middle);
  log_scale_.copy_(-spread.clamp_min(1e-3).log());  // a constant column has no scale to learn from
}

SplineColumns::SplineColumns(Parameters& parameters, const std::string& name, int64_t columns,
                             int64_t bins, double bound, const Context& context)
    : numbers_{zeros(parameters, name + ".widths", {columns, bins}, context),
               zeros(parameters, name + ".heights", {columns, bins}, context),
               zeros(parameters, name + ".slopes", {columns, bins - 1}, context)},
      bound_(bound) {}

Moved SplineColumns::forward(const Tensor& x) const {
  return back_to_rows(spline(x.t(), spline_knots(numbers_, bound_)));
}

Moved SplineColumns::inverse(const Tensor& y) const {
  return back_to_rows(spline_inverse(y.t(), spline_knots(numbers_, bound_)));
}

void SplineColumns::initialise(const Tensor& x) {
  const torch::NoGradGuard no_grad;
  const int64_t bins = numbers_.widths.size(1);
  if (x.size(0) < rows_for_a_bin * bins) return;
  const Tensor columns = x.to(torch::kFloat64);
  const Tensor levels = at::linspace(-bound_, bound_, bins + 1, columns.options());
  Tensor knots = sorted_quantiles(std::get<0>(columns.sort(0)), at::special_ndtr(levels));
  knots[0].fill_(-bound_);
  knots[bins].fill_(bound_);
  SplineKnots wanted{
      knots.clamp(-bound_, bound_).t(), levels.expand({columns.size(1), bins + 1}), {}};
  wanted.slope = knot_slopes(wanted, bound_);
  const SplineNumbers numbers = spline_numbers(wanted, bound_);
  numbers_.widths.copy_(numbers.widths);
  numbers_.heights.copy_(numbers.heights);
  numbers_.slopes.copy_(numbers.slopes);
}

DenseMatrix::DenseMatrix(Parameters& parameters, const std::string& name, int64_t columns,
                         const Context& context)
    : matrix_(parameters, name, columns, context) {}

Moved DenseMatrix::forward(const Tensor& x) const {
  return {at::matmul(x, matrix_.matrix().t()), for_rows(matrix_.log_determinant(), x)};
}

Moved DenseMatrix::inverse(const Tensor& y) const {
  return {at::matmul(y, matrix_.inverse().t()), for_rows(-matrix_.log_determinant(), y)};
}

void DenseMatrix::initialise(const Tensor& x) {
  if (x.size(0) <= 2 * x.size(1)) return;
  GaussianFit fit;
  fit.add(x);
  const GaussianDensity density = fit.density({torch::kCPU, torch::kFloat64});
  const Tensor identity = at::eye(x.size(1), torch::kFloat64);
  matrix_.set(density.to_latent(identity).point -
              density.to_latent(at::zeros_like(identity)).point);
}

}  // namespace dre
