#include "dre/integrate/sampler.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "dre/base/error.h"

namespace dre {
namespace {

double epsilon_of(torch::ScalarType type) {
  switch (type) {
    case torch::kFloat64:
      return std::numeric_limits<double>::epsilon();
    case torch::kFloat32:
      return std::numeric_limits<float>::epsilon();
    case torch::kFloat16:
      return 1.0 / 1024;
    case torch::kBFloat16:
      return 1.0 / 128;
    default:
      fail(Error::Kind::usage, "integrands are real floating point numbers, got ",
           torch::toString(type));
  }
}

}  // namespace

RowSampler::RowSampler(const RowIntegrand& integrand, const QuadratureOptions& options,
                       const torch::TensorOptions& tensors)
    : integrand_(integrand),
      max_points_(options.max_points_per_call),
      device_(tensors.device()),
      given_(torch::typeMetaToScalarType(tensors.dtype())),
      returned_(given_) {
  check(static_cast<bool>(integrand), "the integrand is empty; give a function of rows and t");
  epsilon_of(given_);
}

double RowSampler::noise() const {
  return 10 * std::max(epsilon_of(given_), epsilon_of(returned_));
}

Tensor RowSampler::operator()(const Tensor& rows, const Tensor& t) {
  const int64_t nodes = t.size(1);
  if (t.numel() == 0) return t;
  const Tensor flat_rows = rows.unsqueeze(1).expand({-1, nodes}).reshape({-1});
  const Tensor flat_t = t.reshape({-1}).to(given_);
  if (flat_t.numel() <= max_points_) return call(flat_rows, flat_t).view(t.sizes());
  std::vector<Tensor> parts;
  for (int64_t start = 0; start < flat_t.numel(); start += max_points_) {
    const int64_t length = std::min(max_points_, flat_t.numel() - start);
    parts.push_back(call(flat_rows.narrow(0, start, length), flat_t.narrow(0, start, length)));
  }
  return torch::cat(parts).view(t.sizes());
}

Tensor RowSampler::call(const Tensor& rows, const Tensor& t) {
  const Tensor values = integrand_(rows, t);
  check(values.dim() == 1 && values.size(0) == t.size(0), "the integrand must give one number for ",
        "each of the ", t.size(0), " pairs it gets, gave shape ", values.sizes());
  returned_ = values.scalar_type();
  return values.to(torch::kFloat64);
}

Tensor tolerance(const RowSums& sums, const QuadratureOptions& options, double noise) {
  return torch::max(options.rtol * sums.value.abs(), noise * sums.absolute).clamp_min(options.atol);
}

Integral conclude(const RowSums& sums, const QuadratureOptions& options, double noise) {
  const Tensor broken = sums.value.isfinite().logical_not();
  Integral out;
  out.value = sums.value.masked_fill(broken, std::numeric_limits<double>::quiet_NaN());
  out.error = torch::max(sums.error, noise * sums.absolute)
                  .masked_fill(broken, std::numeric_limits<double>::infinity());
  out.row_evaluations = sums.evaluations;
  if (sums.value.size(0) == 0) return out;
  out.evaluations = sums.evaluations.max().item<int64_t>();
  const Tensor reached = (sums.error <= tolerance(sums, options, noise)).logical_or(broken);
  if (!reached.all().item<bool>()) out.status = Status::not_converged;
  if (broken.any().item<bool>()) out.status = Status::non_finite;
  return out;
}

void check_interval(int64_t rows, double from, double to) {
  check(rows >= 0, "the number of rows must be at least 0, got ", rows);
  check(std::isfinite(from) && std::isfinite(to), "the interval must be finite, got ", from, " to ",
        to, "; substitute a variable that maps it to a finite one");
}

}  // namespace dre
