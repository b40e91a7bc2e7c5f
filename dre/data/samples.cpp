#include "dre/data/samples.h"

#include "dre/base/error.h"

namespace dre {
namespace {

void check_numbers(const Tensor& x, const std::string& what) {
  check(x.defined() && x.dim() == 2 && x.is_floating_point(), what,
        " must be a table [rows, columns] of floating-point numbers");
  check_data(x.size(0) > 0, what, " has no rows");
  check_data(x.size(1) > 0, what, " has no columns");
  // The comparison is false for NaN too.
  check_data((x.abs() < 1e150).all().item<bool>(), what,
             " has values that are not finite or beyond 1e150; remove or encode them first");
}

/// Weights of any scale -> mean 1, or undefined where all are equal.
Tensor normalised(const Tensor& weight, int64_t rows, const std::string& what) {
  if (!weight.defined()) return {};
  check(weight.dim() == 1 && weight.size(0) == rows, what, " needs one weight a row: ", rows,
        " rows, weights of shape ", weight.sizes());
  const Tensor w = weight.to(torch::kFloat64);
  check_data(w.isfinite().all().item<bool>(), what, " has weights that are not finite");
  check_data(w.min().item<double>() >= 0, what, " has negative weights, the least is ",
             w.min().item<double>());
  const double largest = w.max().item<double>();
  check_data(largest > 0, what, " has only zero weights; at least one must be positive");
  if (w.min().item<double>() == largest) return {};
  // First by the largest: a sum of huge or tiny weights must not leave the range of numbers.
  const Tensor scaled = w / largest;
  return scaled / scaled.mean();
}

}  // namespace

Tensor Samples::column(int64_t index) const {
  return x.select(1, index).to(torch::kCPU, torch::kFloat64).contiguous();
}

Tensor Samples::weights() const {
  if (weight.defined()) return weight;
  return torch::ones({rows()}, x.options().dtype(torch::kFloat64));
}

Samples Samples::take(const Tensor& rows) const {
  const Tensor index = rows.to(x.device());
  const Tensor part = weight.defined() ? weight.index_select(0, index) : Tensor{};
  return {x.index_select(0, index), normalised(part, rows.size(0), "the chosen rows")};
}

Samples Samples::positive() const {
  if (!weight.defined() || weight.min().item<double>() > 0) return *this;
  return take(weight.nonzero().squeeze(1));
}

Samples make_samples(const Tensor& x, const Tensor& weight, const std::string& what) {
  check_numbers(x, what);
  const Tensor w = normalised(weight, x.size(0), what);
  return {x, w.defined() ? w.to(x.device()) : w};
}

Samples as_read(const Samples& samples) {
  return {samples.x.to(torch::kCPU, torch::kFloat64),
          samples.weight.defined() ? samples.weight.cpu() : samples.weight};
}

double effective_size(const Samples& samples) {
  if (!samples.weight.defined()) return static_cast<double>(samples.rows());
  const double sum = samples.weight.sum().item<double>();
  return sum * sum / samples.weight.square().sum().item<double>();
}

}  // namespace dre
