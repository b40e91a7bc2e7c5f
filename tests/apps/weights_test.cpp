#include "dre/apps/weights.h"

#include <gtest/gtest.h>

#include "dre/numeric/statistics.h"
#include "tests/apps/numeric_sides.h"
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
  out.sides.denominator_weight = out.own.mean().item<double>();
  return out;
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
  equal.denominator_weight = 0.25;
  const WeightsResult quarter = weights_of(equal, "none", false);
  EXPECT_TRUE(quarter.weight.allclose(0.25 * quarter.log_ratio.exp(), 1e-9));
  expect_contains(quarter.how, {"times"});
}

}  // namespace
}  // namespace dre::testing
