#include "dre/apps/weights.h"

#include <gtest/gtest.h>

#include "dre/numeric/statistics.h"
#include "tests/apps/numeric_sides.h"
#include "tests/apps/side_tables.h"
#include "tests/data/files.h"

namespace dre::testing {
namespace {

WeightsResult weights_of(const Sides& sides, const std::string& normalize, bool smooth) {
  WeightsOptions options;
  options.fit = reference_alone(0);
  options.normalize = normalize;
  options.smooth = smooth;
  Progress silent;
  return importance_weights(sides, options, silent);
}

/// 200 rows of N(1, I) over 300 of N(0, I), whose weights lie between 1 and 5.
struct Yields {
  Tensor own;
  Sides sides;
};

Yields yields() {
  auto generator = stream("yields");
  const Tensor target = rows(200, 2, 1, generator), source = rows(300, 2, 0, generator);
  Yields out{1 + 4 * uniform({300}, torch::kFloat64, generator), numeric_sides(target, source)};
  out.sides.denominator = make_samples(source, out.own, "the denominator");
  out.sides.denominator_has_weights = true;
  out.sides.denominator_weight = out.own.mean().item<double>();
  return out;
}

/// The denominator's rows are there three times, one after the other.
TEST(WrittenWeights, AreOfEveryRowOfTheFileWhereSomeAreCopies) {
  auto generator = stream("copied rows");
  const Tensor target = rows(200, 2, 1, generator), source = rows(300, 2, 0, generator);
  const auto csv = [](const Tensor& x, int64_t times) {
    std::string all = "x,y\n";
    for (int64_t i = 0; i < x.size(0); ++i)
      for (int64_t k = 0; k < times; ++k)
        all += text(x[i][0].item<double>(), ",", x[i][1].item<double>(), "\n");
    return all;
  };
  const Directory directory;
  const Sides copied = load_sides(two_files(directory, csv(target, 1), csv(source, 3)));
  EXPECT_EQ(codes(copied), Strings{"copied-rows"});
  EXPECT_EQ(copied.denominator.rows(), 300);
  const Sides once = load_sides(two_files(directory, csv(target, 1), csv(source, 1)));
  for (const char* normalize : {"mean1", "sum1", "none"}) {
    const WeightsResult result = weights_of(copied, normalize, true);
    const WeightsResult expected = weights_of(once, normalize, true);
    const double scale = std::string(normalize) == "sum1" ? 3 : 1;
    EXPECT_TRUE(result.weight.allclose(expected.weight.repeat_interleave(3) / scale, 1e-9))
        << normalize;
    EXPECT_TRUE(result.log_ratio.equal(expected.log_ratio.repeat_interleave(3)));
    EXPECT_TRUE(result.fold.equal(expected.fold.repeat_interleave(3)));
    EXPECT_NEAR(result.check.effective_rows, expected.check.effective_rows, 1e-6);
    EXPECT_EQ(result.how.find("times"), std::string::npos);
  }
}

/// Smoothing and scaling the folds change what rows are worth.
TEST(WrittenWeights, AreWorthWhatIsTold) {
  const Sides sides = yields().sides;
  for (const char* normalize : {"mean1", "sum1", "none"})
    for (const bool smooth : {true, false}) {
      SCOPED_TRACE(text(normalize, smooth ? ", smooth" : ""));
      const WeightsResult result = weights_of(sides, normalize, smooth);
      EXPECT_NEAR(result.check.effective_rows, effective_sample_size(result.weight), 1e-6);
    }
}

TEST(WrittenWeights, KeepTheScaleOfTheRowsUnlessNormalised) {
  const auto [own, sides] = yields();
  const WeightsResult raw = weights_of(sides, "none", false);
  EXPECT_TRUE(raw.weight.allclose(raw.log_ratio.exp() * own, 1e-9));
  expect_contains(raw.how, {"times", "normalize none"});
  EXPECT_NEAR(weights_of(sides, "mean1", true).weight.mean().item<double>(), 1, 1e-9);
  EXPECT_NEAR(weights_of(sides, "sum1", true).weight.sum().item<double>(), 1, 1e-9);
  // Samples forget weights that are all equal.
  Sides equal = numeric_sides(sides.numerator.x, sides.denominator.x);
  equal.denominator_has_weights = true;
  equal.denominator_weight = 0.25;
  const WeightsResult quarter = weights_of(equal, "none", false);
  EXPECT_TRUE(quarter.weight.allclose(0.25 * quarter.log_ratio.exp(), 1e-9));
  expect_contains(quarter.how, {"times"});
}

TEST(Weights, RecoverTheTargetMeanOfAColumnThatIsNotInTheTable) {
  auto generator = stream("weights");
  const int64_t n = 4000;
  const Tensor source = rows(n, 2, 0, generator), target = rows(n, 2, 0, generator);
  target.select(1, 0).mul_(0.8).add_(0.6);
  const auto outcome = [&](const Tensor& x) {
    return 2 * x.select(1, 0) + x.select(1, 0).square() + normal({n}, torch::kFloat64, generator);
  };
  const Tensor y = outcome(source), truth = outcome(target);
  WeightsOptions options;
  options.fit = reference_alone(0);
  Progress silent;
  const WeightsResult result = importance_weights(numeric_sides(target, source), options, silent);
  EXPECT_NEAR(result.weight.mean().item<double>(), 1, 1e-9);
  const Measured weighted{weighted_mean(y, result.weight), standard_error(y, result.weight)};
  const double error = std::hypot(weighted.standard_error, standard_error(truth));
  EXPECT_NEAR(weighted.value, truth.mean().item<double>(), 3 * error);
  EXPECT_GT(std::abs(y.mean().item<double>() - truth.mean().item<double>()), 10 * error);
}

TEST(Weights, RowsThatDoNotCountSpoilNothing) {
  auto generator = stream("weights");
  const Tensor target = rows(200, 2, 0.5, generator), source = rows(300, 2, 0, generator);
  Sides sides = numeric_sides(target, source);
  sides.denominator.weight = torch::ones({300}, torch::kFloat64);
  sides.denominator.weight.slice(0, 0, 5).zero_();
  WeightsOptions options;
  options.fit = reference_alone(0);
  Progress silent;
  const WeightsResult result = importance_weights(sides, options, silent);
  EXPECT_TRUE(result.weight.isfinite().all().item<bool>());
  // They may lie where no other row of the source does.
  sides.denominator.x.slice(0, 5) += 50;
  const WeightsResult far = importance_weights(sides, options, silent);
  EXPECT_TRUE(far.weight.isfinite().all().item<bool>());
  EXPECT_EQ(far.weight.slice(0, 0, 5).abs().max().item<double>(), 0);
  EXPECT_NEAR(far.weight.mean().item<double>(), 1, 1e-9);
}

/// With weights of their own, rows get their product with r: the written weights need nothing else.
TEST(Weights, ContainTheWeightsOfTheRows) {
  auto generator = stream("weighted rows");
  const int64_t n = 2000;
  const Tensor target = rows(n, 1, 0.5, generator), source = rows(n, 1, 0, generator);
  Sides sides = numeric_sides(target, source);
  // Weights that move the source to mean -0.4 before it is made to look like the target.
  const Tensor own = (-0.4 * source.select(1, 0)).exp();
  sides.denominator = make_samples(source, own, "the denominator");
  WeightsOptions options;
  options.fit = reference_alone(0);
  Progress silent;
  const Tensor weight = importance_weights(sides, options, silent).weight;
  EXPECT_NEAR(weight.mean().item<double>(), 1, 1e-9);
  EXPECT_NEAR(weighted_mean(source.select(1, 0), weight), 0.5,
              4 * standard_error(source.select(1, 0), weight));
}

/// Of squares, the numerator's moved to the right: no weight reaches three in ten of its rows.
TEST(Weights, TellOfRowsThatTheyCannotReach) {
  auto generator = stream("reach");
  const Tensor source = uniform({2000, 2}, torch::kFloat64, generator);
  const Tensor target = uniform({2000, 2}, torch::kFloat64, generator);
  const auto told = [&](double shift) {
    const Tensor moved = torch::tensor({shift, 0.0}, torch::kFloat64);
    Strings found;
    for (const auto& [code, message] :
         weights_of(numeric_sides(target + moved, source), "mean1", true).warnings)
      found.push_back(code);
    return contains(found, "little-support");
  };
  EXPECT_TRUE(told(0.3));
  EXPECT_FALSE(told(0));
}

TEST(Weights, ScalesAreAsNamed) {
  auto generator = stream("weights");
  const Sides sides = numeric_sides(rows(200, 2, 0.5, generator), rows(300, 2, 0, generator));
  WeightsOptions options;
  options.fit = reference_alone(0);
  options.smooth = false;
  Progress silent;
  options.normalize = "sum1";
  EXPECT_NEAR(importance_weights(sides, options, silent).weight.sum().item<double>(), 1, 1e-9);
  options.normalize = "none";
  const WeightsResult raw = importance_weights(sides, options, silent);
  EXPECT_TRUE(raw.weight.equal(raw.log_ratio.exp()));
  const Tensor folded = normalised_in_folds(raw.log_ratio, raw.fold, torch::ones({300}));
  for (int64_t k = 0; k < 5; ++k)
    EXPECT_NEAR(folded.masked_select(raw.fold == k).exp().mean().item<double>(), 1, 1e-9);
}

}  // namespace
}  // namespace dre::testing
