#include "benchmarks/pairs/closed_forms.h"
#include "benchmarks/pairs/combine.h"
#include "benchmarks/pairs/parameters.h"
#include "benchmarks/pairs/suite.h"

namespace dre::pairs {
namespace {

DensityPtr isotropic(int64_t d, double mean, double variance) {
  return gaussian(constant(d, mean), variance * identity_matrix(d));
}

PairParts gaussian_pair(const Tensor& mean0, const Tensor& covariance0, const Tensor& mean1,
                        const Tensor& covariance1) {
  return {gaussian(mean0, covariance0), gaussian(mean1, covariance1),
          gaussian_kl(mean0, covariance0, mean1, covariance1)};
}

struct MixtureShape {
  int64_t dimension, components;
  double spread;  ///< standard deviation of the centres
  double width;   ///< standard deviation of a component
};

DensityPtr random_mixture(FixedNumbers& numbers, const MixtureShape& shape) {
  const int64_t d = shape.dimension;
  std::vector<double> weights;
  std::vector<DensityPtr> components;
  for (int64_t k = 0; k < shape.components; ++k) {
    const Tensor centre = shape.spread * numbers.normals(1, d).squeeze(0);
    const Tensor loadings = numbers.normals(d, d);
    const Tensor form = 0.5 * (identity_matrix(d) + loadings.matmul(loadings.t()) / d);
    weights.push_back(0.5 + numbers.uniform());
    components.push_back(gaussian(centre, shape.width * shape.width * form));
  }
  return mixture(weights, std::move(components));
}

PairParts mixture_pair(uint64_t seed, const MixtureShape& shape) {
  FixedNumbers numbers(seed);
  const DensityPtr numerator = random_mixture(numbers, shape);
  return {numerator, random_mixture(numbers, shape), std::nullopt};
}

/// Both sides go through one map: the ratio is carried along.
PairParts mapped(const PairParts& base, const MapPtr& map) {
  return {pushforward(base.numerator, map), pushforward(base.denominator, map), base.kl};
}

PairParts gaussian_2d() {
  const Tensor eye = identity_matrix(2);
  return gaussian_pair(constant(2, 4), eye, constant(2, 0), eye);
}

PairParts gaussian_2d_shifted() {
  PairParts parts = gaussian_2d();
  parts.test_numerator = isotropic(2, 5, 1);
  return parts;
}

PairParts null_gaussian_10() {
  const Tensor covariance = autoregressive(10, 0.5);
  return gaussian_pair(constant(10, 0), covariance, constant(10, 0), covariance);
}

PairParts null_mixture_10() {
  FixedNumbers numbers(11);
  const DensityPtr both = random_mixture(numbers, {10, 4, 1.5, 1});
  return {both, both, 0.0};
}

PairParts mild_shift_30() {
  const Tensor covariance = autoregressive(30, 0.5);
  return gaussian_pair(constant(30, 0.2), covariance, constant(30, 0), covariance);
}

PairParts scale_10() {
  const Tensor deviations = torch::linspace(0.6, 1.25, 10, torch::kFloat64);
  return gaussian_pair(constant(10, 0), deviations.square().diag(), constant(10, 0),
                       identity_matrix(10));
}

PairParts log_normal_5() {
  return mapped(gaussian_pair(constant(5, 0.3), 0.64 * equicorrelated(5, 0.5), constant(5, 0),
                              identity_matrix(5)),
                exponential(5));
}

DensityPtr student_columns(int64_t d, double location) {
  const Tensor scale = identity_matrix(1);
  return product(std::vector<DensityPtr>(d, student(3, constant(1, location), scale)));
}

PairParts student_product_5() {
  return {student_columns(5, 0.5), student_columns(5, 0), std::nullopt};
}

PairParts student_correlated_10() {
  return {student(3, constant(10, 0.3), autoregressive(10, 0.6)),
          student(3, constant(10, 0), identity_matrix(10)), std::nullopt};
}

PairParts mixture_2() { return mixture_pair(21, {2, 4, 2, 1}); }

PairParts mixture_10() { return mixture_pair(22, {10, 3, 0.6, 1}); }

PairParts mixture_10_far() { return mixture_pair(23, {10, 3, 1.5, 1}); }

PairParts mixture_20() { return mixture_pair(24, {20, 3, 0.7, 1}); }

PairParts warped_mixture_2() { return mapped(mixture_pair(34, {2, 3, 2, 1}), waves(2, 3, 1, 1.5)); }

PairParts warped_mixture_10() {
  return mapped(mixture_pair(32, {10, 3, 0.7, 1}), waves(10, 3, 1, 1));
}

PairParts warped_mixture_10_far() {
  return mapped(mixture_pair(33, {10, 3, 1.5, 1}), waves(10, 2, 1, 1));
}

PairParts warped_over_gaussian_4() {
  return {pushforward(isotropic(4, 0, 1), waves(4, 2, 1.5, 1)), isotropic(4, 0, 2), std::nullopt};
}

}  // namespace

std::vector<PairRow> two_sample_rows() {
  return {{"gaussian-2d", gaussian_2d},
          {"gaussian-2d-shifted", gaussian_2d_shifted},
          {"null-gaussian-10", null_gaussian_10},
          {"null-mixture-10", null_mixture_10},
          {"mild-shift-30", mild_shift_30},
          {"scale-10", scale_10},
          {"log-normal-5", log_normal_5},
          {"student-product-5", student_product_5},
          {"student-correlated-10", student_correlated_10},
          {"mixture-2", mixture_2},
          {"mixture-10", mixture_10},
          {"mixture-10-far", mixture_10_far},
          {"mixture-20", mixture_20},
          {"warped-mixture-2", warped_mixture_2},
          {"warped-mixture-10", warped_mixture_10},
          {"warped-mixture-10-far", warped_mixture_10_far},
          {"warped-over-gaussian-4", warped_over_gaussian_4}};
}

}  // namespace dre::pairs
