#include "dre/ratio/correction.h"

#include <gtest/gtest.h>

#include <cmath>

#include "dre/score/classifiers.h"
#include "tests/support/exact_scores.h"

namespace dre {
namespace {

using testing::gaussian_ends;

struct Sides {
  Samples numerator, denominator;
};

/// Rows of the exact pair, `n0` and `n1` of them.
Sides draw_sides(int64_t d, int64_t n0, int64_t n1, uint64_t seed = 1) {
  auto generator = testing::double_context(seed).generator("sides");
  const Tensor x0 = testing::draw_batch(gaussian_ends(d), n0, generator).x0;
  const Tensor x1 = testing::draw_batch(gaussian_ends(d), n1, generator).x1;
  return {make_samples(x0), make_samples(x1)};
}

Measured measure(const Score& score, const GaussianPath& path, const Sides& sides,
                 uint64_t seed = 2) {
  auto generator = testing::double_context(seed).generator("correction");
  return normalisation_error(score, path, sides.numerator, sides.denominator, generator);
}

/// A score that is off by c(t) everywhere gives log r off by -int c; the measured number puts it
/// right.
TEST(NormalisationError, FindsAKnownOffsetOfTheTimeScore) {
  for (const char* name : {"linear", "trigonometric", "brownian", "dequantified"})
    for (const double size : {0.0, 0.7}) {
      const GaussianPath path(testing::bridge_named(name), gaussian_ends(3));
      const ScalarScore score = testing::exact_time_score(
          path, [size](const Tensor& t) { return size * (1 + (3 * t).sin()); });
      const double integral = size * (1 + (1 - std::cos(3.0)) / 3);
      const Sides sides = draw_sides(3, 2000, 2000);
      const Measured measured = measure(score, path, sides);
      EXPECT_NEAR(measured.value, integral, 4 * measured.standard_error) << name;
      EXPECT_LT(measured.standard_error, 0.1) << name;
      const Tensor x = testing::draw_points(20, 3).x;
      const Tensor corrected = horizontal_ratio(score, path, x, {}).log_ratio + measured.value;
      const Tensor exact = testing::oracle_of(gaussian_ends(3)).log_ratio(x);
      EXPECT_LT((corrected - exact).abs().max().item<double>(), 4 * measured.standard_error + 1e-3)
          << name;
    }
}

/// Rows from a shifted numerator with the weights that shift it back.
TEST(NormalisationError, SampleWeightsCount) {
  const GaussianPath path(testing::bridge_named("linear"), gaussian_ends(2));
  const ScalarScore score =
      testing::exact_time_score(path, [](const Tensor& t) { return 0.5 + 0 * t; });
  GaussianEnds shifted = gaussian_ends(2);
  shifted.mean0 = shifted.mean0 + 0.5;
  auto generator = testing::double_context(3).generator("shifted");
  const Batch batch = testing::draw_batch(shifted, 4000, generator);
  const Tensor weight = (testing::oracle_of(gaussian_ends(2)).log_ratio(batch.x0) -
                         testing::oracle_of(shifted).log_ratio(batch.x0))
                            .exp();
  const Sides weighted{make_samples(batch.x0, weight), make_samples(batch.x1)};
  const Measured measured = measure(score, path, weighted);
  EXPECT_NEAR(measured.value, 0.5, 4 * measured.standard_error);
  const Measured ignored = measure(score, path, {make_samples(batch.x0), make_samples(batch.x1)});
  EXPECT_GT(std::abs(ignored.value - 0.5), 6 * ignored.standard_error);
}

/// The smaller side is repeated to the length of the larger, which must not look like more rows.
TEST(NormalisationError, StandardErrorIsHonestForSidesOfDifferentLength) {
  const GaussianPath path(testing::bridge_named("linear"), gaussian_ends(2));
  const ScalarScore score = testing::exact_time_score(path);
  double squares = 0;
  const int repeats = 20;
  for (int seed = 0; seed < repeats; ++seed) {
    const Measured measured = measure(score, path, draw_sides(2, 50, 2500, 10 + seed), 50 + seed);
    squares += std::pow(measured.value / measured.standard_error, 2) / repeats;
  }
  EXPECT_LT(squares, 1 + 4 * std::sqrt(2.0 / repeats));  // mean of chi-squares, 4 s.e.
  EXPECT_GT(squares, 0.05);
}

ClassifierScore offset_classifier(double offset) {
  const auto exact = [offset](const Dual& x, const Dual&) {
    return Dual((testing::oracle_of(gaussian_ends(2)).log_ratio(x.value) + offset).unsqueeze(1));
  };
  const auto network =
      std::make_shared<testing::ExactNetwork>(exact, 2, 1, false, testing::double_context());
  return ClassifierScore({network, testing::bridge_named("linear"), nullptr, 2});
}

TEST(NormalisationError, FindsTheInterceptOfAClassifier) {
  const GaussianPath path(testing::bridge_named("linear"), gaussian_ends(2));
  for (const double offset : {-1.5, 0.0, 0.4}) {
    const Measured measured = measure(offset_classifier(offset), path, draw_sides(2, 3000, 2000));
    EXPECT_NEAR(measured.value, -offset, 4 * measured.standard_error) << offset;
    EXPECT_GT(measured.standard_error, 0) << offset;
    EXPECT_LT(measured.standard_error, 0.1) << offset;
  }
}

RatedRows rated(const Tensor& log_ratio, const Tensor& weight = {}) {
  return {log_ratio, weight.defined() ? weight : torch::ones_like(log_ratio)};
}

RatedRows rate(const Samples& side, double offset) {
  return rated(testing::oracle_of(gaussian_ends(2)).log_ratio(side.x) + offset);
}

TEST(BalancingIntercept, BalancesTheTwoSides) {
  const Sides sides = draw_sides(2, 1500, 2500);
  const RatedRows first = rate(sides.numerator, 0.8), second = rate(sides.denominator, 0.8);
  const Measured measured = balancing_intercept(first, second);
  const double missed = torch::sigmoid(-(first.log_ratio + measured.value)).mean().item<double>();
  const double mistaken = torch::sigmoid(second.log_ratio + measured.value).mean().item<double>();
  EXPECT_NEAR(missed, mistaken, 1e-12);
  EXPECT_NEAR(measured.value, -0.8, 4 * measured.standard_error);
}

TEST(BalancingIntercept, WeightsCountAsRepeatedRows) {
  const Sides sides = draw_sides(2, 1500, 1500);
  const RatedRows first = rate(sides.numerator, 0), second = rate(sides.denominator, 0);
  const Tensor copies = 1 + torch::arange(1500, torch::kInt64).remainder(3);
  const RatedRows weighted = rated(first.log_ratio, copies.to(torch::kFloat64));
  const RatedRows repeated = rated(first.log_ratio.repeat_interleave(copies));
  EXPECT_NEAR(balancing_intercept(weighted, second).value,
              balancing_intercept(repeated, second).value, 1e-12);
  EXPECT_NEAR(logistic_loss(weighted, second), logistic_loss(repeated, second), 1e-12);
}

/// Between sides that hardly touch, a handful of rows would decide.
TEST(BalancingIntercept, HasNoSayWhereTheSidesHardlyTouch) {
  auto generator = testing::double_context(4).generator("far");
  const Tensor noise = normal({2, 2000}, torch::kFloat64, generator);
  const Measured far = balancing_intercept(rated(40 + 8 * noise[0]), rated(-40 + 8 * noise[1]));
  EXPECT_EQ(far.value, 0);
  EXPECT_EQ(far.shrunk(), 0);
  // So far that no row has a share that could be told from zero.
  const Measured apart = balancing_intercept(rated(4000 + noise[0]), rated(-4000 + noise[1]));
  EXPECT_EQ(apart.value, 0);
  EXPECT_EQ(deciding_rows(rated(4000 + noise[0]), rated(-4000 + noise[1])), 0);
  const Measured few = balancing_intercept(rated(noise[0].slice(0, 0, 50)), rated(noise[1]));
  EXPECT_EQ(few.value, 0);
}

/// Log-ratios that are `size` times the truth, from none at all.
Measured share_of(double size, const Sides& sides, double most) {
  const auto times = [](const RatedRows& rows, double factor) {
    return rated(factor * rows.log_ratio, rows.weight);
  };
  const RatedRows first = rate(sides.numerator, 0), second = rate(sides.denominator, 0);
  return best_share(times(first, 0), times(second, 0), times(first, size), times(second, size),
                    most);
}

TEST(BestShare, IsWhatLeavesTheTruth) {
  double spread = 0;
  const int seeds = 200;
  for (const double size : {0.8, 1.0, 3.0}) {
    for (uint64_t seed = 1; seed <= seeds; ++seed) {
      const Measured share = share_of(size, draw_sides(2, 300, 200, seed), 10);
      spread += std::pow((share.value - 1 / size) / share.standard_error, 2) / (3 * seeds);
    }
  }
  EXPECT_NEAR(spread, 1, 4 * std::sqrt(2.0 / seeds));  // the three sizes share their rows
}

TEST(BestShare, StaysInItsRange) {
  const Sides sides = draw_sides(2, 1500, 1500);
  EXPECT_EQ(share_of(0.25, sides, 2).value, 2);
  EXPECT_EQ(share_of(-1, sides, 2).value, 0);
  const Measured nothing = share_of(0, sides, 2);
  EXPECT_EQ(nothing.shrunk(), 0);
  EXPECT_EQ(nothing.value, 2);
}

TEST(BestShare, OneRowIsNeverSure) {
  const Tensor nothing = torch::zeros({200}, torch::kFloat64);
  Tensor one = nothing.clone();
  one[7] = 3;
  const RatedRows base = rated(nothing, torch::ones_like(nothing));
  const Measured share = best_share(base, base, rated(one, base.weight), base, 2);
  EXPECT_EQ(share.value, 2);
  EXPECT_EQ(share.shrunk(), 0);
}

TEST(LogisticLoss, IsLogTwoWithoutKnowledgeAndLowestAtTheTruth) {
  const Sides sides = draw_sides(2, 4000, 1000);
  const Tensor nothing = torch::zeros({10}, torch::kFloat64);
  EXPECT_NEAR(logistic_loss(rated(nothing), rated(nothing)), std::log(2), 1e-15);
  const auto loss = [&](double offset) {
    return logistic_loss(rate(sides.numerator, offset), rate(sides.denominator, offset));
  };
  EXPECT_LT(loss(0), std::log(2));
  EXPECT_LT(loss(0), loss(0.5));
  EXPECT_LT(loss(0), loss(-0.5));
}

}  // namespace
}  // namespace dre
