#include "dre/density/gaussian_density.h"

#include <nlohmann/json.hpp>

#include "dre/base/error.h"

namespace dre {
namespace {

/// Why a covariance with eigenvalues from `least` to `most` has no usable root: columns that
/// determine each other, or only their units.
[[noreturn]] void refuse(const Tensor& covariance, double least, double most) {
  const Tensor deviation = covariance.diagonal().clamp_min(0).sqrt();
  const double smallest = deviation.min().item<double>(), largest = deviation.max().item<double>();
  const bool units =
      smallest > 0 &&
      at::linalg_eigvalsh(covariance / at::outer(deviation, deviation)).min().item<double>() >
          1e-10;
  if (units)
    fail(Error::Kind::data, "the columns' units differ too much: standard deviations lie between ",
         smallest, " and ", largest, "; scale the columns to similar sizes");
  fail(Error::Kind::data, "the covariance is not positive definite: its eigenvalues lie between ",
       least, " and ", most, "; leave out columns that others determine, or give more rows");
}

}  // namespace

GaussianDensity::GaussianDensity(const Tensor& mean, const Tensor& covariance,
                                 const Context& context)
    : mean64_(mean.detach().to(torch::kCPU, torch::kFloat64)),
      covariance64_(covariance.detach().to(torch::kCPU, torch::kFloat64)),
      mean_(mean64_.to(context.options())) {
  const torch::NoGradGuard no_grad;
  const int64_t d = mean64_.numel();
  check(mean64_.dim() == 1 && covariance64_.sizes() == torch::IntArrayRef({d, d}),
        "a Gaussian needs a mean [d] and a covariance [d, d], got ", mean.sizes(), " and ",
        covariance.sizes());
  const auto [variances, directions] = at::linalg_eigh(covariance64_);
  const double least = variances.min().item<double>(), most = variances.max().item<double>();
  if (!(least > 1e-13 * most)) refuse(covariance64_, least, most);
  const auto root = [&, &v = variances, &q = directions](double power) {
    return at::matmul(q * v.pow(power), q.t()).to(context.options());
  };
  whitening_ = root(-0.5);
  colouring_ = root(0.5);
  log_determinant_ = variances.log().sum().mul(-0.5).to(context.options());
}

Moved GaussianDensity::to_latent(const Tensor& x) const {
  check_rows(x, dimension());
  return {at::matmul(x - mean_, whitening_), log_determinant_.expand({x.size(0)})};
}

Moved GaussianDensity::from_latent(const Tensor& z) const {
  check_rows(z, dimension());
  return {at::addmm(mean_, z, colouring_), log_determinant_.neg().expand({z.size(0)})};
}

nlohmann::json GaussianDensity::description() const { return nlohmann::json::object(); }

NamedTensors GaussianDensity::tensors() const {
  return {{"mean", mean64_}, {"covariance", covariance64_}};
}

DensityPtr GaussianDensity::make(const nlohmann::json&, const NamedTensors& tensors,
                                 const Context& context) {
  return std::make_shared<GaussianDensity>(at(tensors, "mean"), at(tensors, "covariance"), context);
}

void GaussianFit::add(const Tensor& rows) {
  const torch::NoGradGuard no_grad;
  check(rows.dim() == 2 && rows.size(0) > 0, "rows must be [n, d], got ", rows.sizes());
  const Tensor values = rows.to(torch::kFloat64);
  if (rows_ == 0) {
    shift_ = values.mean(0);
    sum_ = at::zeros_like(shift_);
    squares_ = values.new_zeros({values.size(1), values.size(1)});
  }
  check_rows(values, shift_.size(0));
  const Tensor centred = values - shift_;
  rows_ += values.size(0);
  sum_ += centred.sum(0);
  squares_.addmm_(centred.t(), centred);
}

GaussianDensity GaussianFit::density(const Context& context) const {
  check_data(rows_ > 1, "a Gaussian needs two rows at least, got ", rows_);
  const auto n = static_cast<double>(rows_);
  const Tensor offset = sum_ / n;
  return {shift_ + offset, squares_ / n - at::outer(offset, offset), context};
}

}  // namespace dre
