#include "dre/numeric/logistic_line.h"

#include <gtest/gtest.h>

namespace dre {
namespace {

/// Scores whose log-odds are known: N(m, 2m) against N(-m, 2m) has log r = f.
TwoScores exact_scores(int64_t n, double mean, at::Generator& generator) {
  const auto draw = [&](double sign) {
    return sign * mean + std::sqrt(2 * mean) * normal({n}, torch::kFloat64, generator);
  };
  const Tensor f0 = draw(1), f1 = draw(-1);
  return {f0, {}, f1, {}};
}

TEST(LogisticLine, UndoesAnyScaleAndShift) {
  auto generator = Context{}.generator("line");
  TwoScores f = exact_scores(20000, 0.5, generator);
  const LogisticLine right = fit_logistic_line(f);
  EXPECT_NEAR(right.slope, 1, 0.05);
  EXPECT_NEAR(right.intercept, 0, 0.05);
  const Tensor before = right(f.f0);
  f.f0 = 0.5 + 0.5 * f.f0;
  f.f1 = 0.5 + 0.5 * f.f1;
  // The prior pulls with the strength of one row in 40000.
  EXPECT_LT((fit_logistic_line(f)(f.f0) - before).abs().max().item<double>(), 0.02);
}

/// A few scores may be far from all others. The loss is convex: where its slope, the prior's
/// included, is zero, it is least.
TEST(LogisticLine, IsTheLeastLossWhateverTheTails) {
  auto generator = Context{}.generator("tails");
  for (int i = 0; i < 200; ++i) {
    TwoScores f = exact_scores(200, 0.5, generator);
    for (Tensor* side : {&f.f0, &f.f1}) {
      const Tensor tail = normal({200}, torch::kFloat64, generator);
      *side = *side * (i % 5 + 1) + (i % 2 == 0 ? tail.pow(7) : 1e3 * (tail > 2.5) * tail);
    }
    const LogisticLine line = fit_logistic_line(f);
    const Tensor wrong0 = torch::sigmoid(-line(f.f0)), wrong1 = torch::sigmoid(line(f.f1));
    const double by_intercept =
        line.intercept / 400 - 0.5 * (wrong0.mean() - wrong1.mean()).item<double>();
    const double by_slope = (line.slope - 1) / 400 -
                            0.5 * ((wrong0 * f.f0).mean() - (wrong1 * f.f1).mean()).item<double>();
    EXPECT_NEAR(by_intercept, 0, 1e-6) << i;
    EXPECT_NEAR(by_slope, 0, 1e-6) << i;
  }
}

TEST(LogisticLine, WeightsCountAsRepeatedRows) {
  auto generator = Context{}.generator("line");
  const TwoScores f = exact_scores(500, 0.5, generator);
  TwoScores weighted = f, repeated = f;
  weighted.weight0 = torch::cat({torch::full({100}, 3.0), torch::ones({400})}).to(torch::kFloat64);
  repeated.f0 = torch::cat({f.f0, f.f0.slice(0, 0, 100), f.f0.slice(0, 0, 100)});
  EXPECT_NEAR(fit_logistic_line(weighted).slope, fit_logistic_line(repeated).slope, 1e-3);
}

TEST(LogisticLine, InfluenceIsTheChangeThatARowMakes) {
  auto generator = Context{}.generator("line");
  const TwoScores f = exact_scores(400, 0.5, generator);
  const LogisticLine line = fit_logistic_line(f);
  for (const int sample : {0, 1}) {
    const Tensor& own = sample == 0 ? f.f0 : f.f1;
    const Tensor influence = line.influence(own, sample);
    // The sum over all rows is the gradient, which is zero up to the prior.
    EXPECT_LT((line.influence(f.f0, 0).mean(0) + line.influence(f.f1, 1).mean(0))
                  .abs()
                  .max()
                  .item<double>(),
              0.02);
    TwoScores without = f;
    (sample == 0 ? without.f0 : without.f1) = own.slice(0, 1);
    const LogisticLine moved = fit_logistic_line(without);
    const double n = static_cast<double>(own.size(0));
    EXPECT_NEAR(
        moved.slope - line.slope,
        -(influence[0][1].item<double>() - influence.select(1, 1).mean().item<double>()) / n, 3e-4);
  }
}

TEST(LogisticLine, ScoresThatSayNothingStayAsTheyAre) {
  const Tensor none = torch::zeros({50}, torch::kFloat64);
  const LogisticLine line = fit_logistic_line({none, {}, none, {}});
  EXPECT_NEAR(line.slope, 1, 1e-9);
  EXPECT_NEAR(line.intercept, 0, 1e-9);
}

}  // namespace
}  // namespace dre
