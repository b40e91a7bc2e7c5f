#include <cmath>
#include <numbers>

#include "benchmarks/pairs/closed_forms.h"
#include "benchmarks/pairs/combine.h"
#include "benchmarks/pairs/parameters.h"
#include "benchmarks/pairs/suite.h"

namespace dre::pairs {
namespace {

PairParts gaussian_dependence(const Tensor& covariance, int64_t first) {
  const int64_t d = covariance.size(0);
  const auto block = [&](int64_t begin, int64_t end) {
    return gaussian(constant(end - begin, 0), corner(covariance, begin, end));
  };
  return {block(0, d), product({block(0, first), block(first, d)}),
          gaussian_mutual_information(covariance, first)};
}

PairParts student_dependence(int64_t degrees, const Tensor& scale, int64_t first) {
  const int64_t d = scale.size(0);
  const auto block = [&](int64_t begin, int64_t end) {
    return student(degrees, constant(end - begin, 0), corner(scale, begin, end));
  };
  return {block(0, d), product({block(0, first), block(first, d)}),
          student_mutual_information(degrees, scale, first)};
}

/// A map for each of the two variables leaves their mutual information as it is.
PairParts reshaped(const PairParts& base, const MapPtr& first, const MapPtr& second) {
  const MapPtr map = beside({first, second});
  return {pushforward(base.numerator, map), pushforward(base.denominator, map), base.kl};
}

PairParts gaussian_1() { return gaussian_dependence(equicorrelated(2, 0.75), 1); }

PairParts gaussian_5() { return gaussian_dependence(paired(5, 2, 0.8), 5); }

PairParts gaussian_dense_25() { return gaussian_dependence(equicorrelated(50, 0.5), 25); }

PairParts gaussian_sparse_25() { return gaussian_dependence(paired(25, 2, 0.8), 25); }

/// rho = sqrt(1 - 1/e) makes every one of the 20 blocks worth half a nat.
PairParts gaussian_40() {
  return gaussian_dependence(paired(20, 20, std::sqrt(1 - 1 / std::numbers::e)), 20);
}

/// Rows of the denominator outside the strip |y - x| < width have log r = -inf, for which there is
/// no squared error: the test rows come from the numerator alone.
PairParts additive_uniform() {
  const double width = 0.1;
  const DensityPtr x = uniform_interval(0, 1);
  const DensityPtr joint = pushforward(product({x, uniform_interval(-width, width)}), additive());
  return {joint, product({x, uniform_plus_uniform(width)}),
          additive_uniform_mutual_information(width), joint, joint};
}

PairParts additive_gaussian() {
  const double deviation = 0.15;
  const DensityPtr x = uniform_interval(0, 1);
  const DensityPtr noise = gaussian(constant(1, 0), deviation * deviation * identity_matrix(1));
  return {pushforward(product({x, noise}), additive()),
          product({x, uniform_plus_gaussian(deviation)}), std::nullopt};
}

/// Nothing is correlated; the common scale alone makes the variables dependent.
PairParts student_tails() { return student_dependence(3, identity_matrix(4), 2); }

PairParts student_correlated() { return student_dependence(2, paired(2, 2, 0.6), 2); }

PairParts spiral_3() {
  return reshaped(gaussian_dependence(paired(3, 2, 0.8), 3), spiral(3, {0, 1}, 1.0 / 3),
                  spiral(3, {1, 2}, 1.0 / 3));
}

PairParts spiral_5() {
  return reshaped(gaussian_dependence(paired(5, 2, 0.8), 5), spiral(5, {0, 1}, 1.0 / 5),
                  spiral(5, {1, 2}, 1.0 / 5));
}

PairParts rolled() { return reshaped(gaussian_1(), swiss_roll(), identity(1)); }

}  // namespace

std::vector<PairRow> mutual_information_rows() {
  return {{"mi-gaussian-1", gaussian_1},
          {"mi-gaussian-5", gaussian_5},
          {"mi-gaussian-dense-25", gaussian_dense_25},
          {"mi-gaussian-sparse-25", gaussian_sparse_25},
          {"mi-gaussian-40", gaussian_40},
          {"mi-additive-uniform", additive_uniform},
          {"mi-additive-gaussian", additive_gaussian},
          {"mi-student-tails-2", student_tails},
          {"mi-student-correlated-2", student_correlated},
          {"mi-spiral-3", spiral_3},
          {"mi-spiral-5", spiral_5},
          {"mi-swiss-roll", rolled}};
}

}  // namespace dre::pairs
