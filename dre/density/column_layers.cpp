#include "dre/density/column_layers.h"

#include "dre/base/error.h"
#include "dre/density/gaussian_density.h"
#include "dre/density/spline.h"

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

}  // namespace

Affine::Affine(Parameters& parameters, const std::string& name, int64_t count,
               const Context& context)
    : shift_(zeros(parameters, name + ".shift", {count}, context)),
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
  // A constant column has no scale to learn from the data.
  const Tensor spread = columns.std(1, false).clamp_min(1e-3);
  shift_.copy_(-columns.mean(1));
  log_scale_.copy_(-spread.log());
}

SplineColumns::SplineColumns(Parameters& parameters, const std::string& name, int64_t columns,
                             int64_t bins, double bound, const Context& context)
    : widths_(zeros(parameters, name + ".widths", {columns, bins}, context)),
      heights_(zeros(parameters, name + ".heights", {columns, bins}, context)),
      slopes_(zeros(parameters, name + ".slopes", {columns, bins - 1}, context)),
      bound_(bound) {}

Moved SplineColumns::forward(const Tensor& x) const {
  return back_to_rows(spline(x.t(), spline_knots(widths_, heights_, slopes_, bound_)));
}

Moved SplineColumns::inverse(const Tensor& y) const {
  return back_to_rows(spline_inverse(y.t(), spline_knots(widths_, heights_, slopes_, bound_)));
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
