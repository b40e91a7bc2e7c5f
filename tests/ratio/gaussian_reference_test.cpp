/// How far the reference goes from one variance of both sides to two.
#include "dre/ratio/gaussian_reference.h"

#include <gtest/gtest.h>

#include <cmath>

#include "dre/base/context.h"

namespace dre {
namespace {

constexpr int64_t dimension = 5;

Tensor all(double value) { return torch::full({dimension}, value, torch::kFloat64); }

/// Variances that the moments of the sides claim: 2 and 1/2, 5/4 with both sides together.
GaussianEnds claimed(double shift) { return {all(shift), all(2), all(0), all(0.5)}; }

constexpr double pooled = 1.25;

/// What is `share` of the way to a claimed variance.
double on_the_way(double claimed, double share) {
  return pooled * std::pow(claimed / pooled, share);
}

Samples drawn(int64_t rows, double mean, double variance, at::Generator& generator) {
  const Tensor x = normal({rows, dimension}, torch::kFloat64, generator);
  return make_samples(mean + std::sqrt(variance) * x);
}

/// The share that the reference goes for rows with the variances at `share`.
double gone(double share, double shift = 0.5, int64_t rows = 20'000) {
  auto generator = Context{}.generator("reference");
  const Samples top = drawn(rows, shift, on_the_way(2, share), generator);
  const Samples bottom = drawn(rows, 0, on_the_way(0.5, share), generator);
  const GaussianEnds found = gaussian_reference_at_atoms(claimed(shift), top, bottom);
  const double first = found.variance0[0].item<double>(), last = found.variance1[0].item<double>();
  EXPECT_TRUE(at::allclose(found.variance0, all(first)) &&
              at::allclose(found.variance1, all(last)));
  EXPECT_TRUE(at::equal(found.mean0, all(shift)) && at::equal(found.mean1, all(0)));
  const double way = std::log(first / pooled) / std::log(2 / pooled);
  EXPECT_NEAR(last, on_the_way(0.5, way), 1e-12);
  return way;
}

TEST(ReferenceAtAtoms, GoesAsFarAsTheRowsDo) {
  for (const double share : {0.0, 0.2, 0.4, 0.6, 0.8, 1.0})
    EXPECT_NEAR(gone(share), share, 1e-12) << share;
}

TEST(ReferenceAtAtoms, HasOneVarianceWhereMoreIsNotSurelyBetter) {
  EXPECT_NEAR(gone(0.05, 0.5, 400), 0, 1e-12);
}

/// Sides that hardly touch have no rows to decide by.
TEST(ReferenceAtAtoms, HasBothVariancesWhereTooFewRowsDecide) { EXPECT_NEAR(gone(0, 4), 1, 1e-12); }

/// A side counts by its effective size: one variance is then nearer to that of the larger side.
TEST(ReferenceAtAtoms, PoolsByEffectiveSizes) {
  auto generator = Context{}.generator("reference");
  Samples top = drawn(3'000, 0, 1, generator);
  const Samples bottom = drawn(1'000, 0, 1, generator);
  const auto one = [&] {
    return gaussian_reference_at_atoms(claimed(0), top, bottom).variance0[0].item<double>();
  };
  EXPECT_NEAR(one(), 0.75 * 2 + 0.25 * 0.5, 1e-12);
  top.weight = torch::tensor({3.0, 0.0, 0.0}, torch::kFloat64).repeat_interleave(1'000);
  EXPECT_NEAR(one(), pooled, 1e-12);
}

TEST(Reference, LeavesOutWhatChanceExplains) {
  auto generator = Context{}.generator("reference");
  const Samples side = drawn(1'000, 0, 1, generator);
  const Moments moments{all(0.01), all(1.02), all(0), all(0.99)};
  const GaussianEnds ends = gaussian_reference(moments, side, side);
  EXPECT_TRUE(at::allclose(ends.variance0, ends.variance1));
  EXPECT_TRUE(at::allclose(ends.mean0, ends.mean1, 0, 1e-2));
}

}  // namespace
}  // namespace dre
