#include "experiments/mutual_information/gaussian_pairs.h"

#include <cmath>

#include "dre/base/error.h"

namespace dre::experiments {
namespace {

/// Random pairings of the parts x and y of the same rows.
Tensor shuffled(const Tensor& rows, int64_t shuffles, at::Generator& generator) {
  const int64_t n = rows.size(0), half = rows.size(1) / 2;
  std::vector<Tensor> out;
  for (int64_t i = 0; i < shuffles; ++i) {
    const Tensor order = at::randperm(n, generator, torch::kInt64);
    out.push_back(torch::cat(
        {rows.narrow(1, 0, half), rows.narrow(1, half, half).index_select(0, order)}, 1));
  }
  return torch::cat(out);
}

}  // namespace

GaussianPairs::GaussianPairs(int64_t dimension, double rho) : dimension_(dimension), rho_(rho) {
  check(dimension >= 2 && dimension % 2 == 0, "the dimension must be even, got ", dimension);
  check(std::abs(rho) < 1, "the correlation must lie between -1 and 1, got ", rho);
}

double GaussianPairs::mutual_information() const {
  return -0.25 * static_cast<double>(dimension_) * std::log1p(-rho_ * rho_);
}

Tensor GaussianPairs::joint(int64_t n, const torch::TensorOptions& options,
                            at::Generator& generator) const {
  const Tensor x = normal({n, dimension_ / 2}, options, generator);
  const Tensor noise = normal({n, dimension_ / 2}, options, generator);
  return torch::cat({x, rho_ * x + std::sqrt(1 - rho_ * rho_) * noise}, 1);
}

Batch GaussianPairs::batch(int64_t n, const torch::TensorOptions& options,
                           at::Generator& generator) const {
  const Tensor x0 = joint(n, options, generator);
  return {x0, normal({n, dimension_}, options, generator)};
}

Tensor GaussianPairs::log_ratio(const Tensor& rows) const {
  const int64_t half = dimension_ / 2;
  const Tensor x = rows.narrow(1, 0, half).to(torch::kFloat64);
  const Tensor y = rows.narrow(1, half, half).to(torch::kFloat64);
  const double rest = 1 - rho_ * rho_;
  // log N((x, y); rho) - log N(x) N(y), pair by pair.
  const Tensor quadratic =
      (2 * rho_ * x * y - rho_ * rho_ * (x.square() + y.square())).sum(1) / (2 * rest);
  return quadratic - 0.5 * static_cast<double>(half) * std::log(rest);
}

TrainData paired_sides(const GaussianPairs& pairs, int64_t rows, int64_t shuffles,
                       const Context& context) {
  auto draws = context.generator("joint rows"), orders = context.generator("shuffles");
  const Tensor joint = pairs.joint(rows, torch::dtype(context.dtype), draws);
  const int64_t held_out = rows / 10;
  // Shuffled apart, so that no x or y of a held-out row is ever trained on.
  const Tensor judge = joint.narrow(0, 0, held_out),
               learn = joint.narrow(0, held_out, rows - held_out);
  return {make_samples(learn), make_samples(shuffled(learn, shuffles, orders)), make_samples(judge),
          make_samples(shuffled(judge, 1, orders))};
}

}  // namespace dre::experiments
