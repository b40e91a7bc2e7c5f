#include "dre/times/binned_history.h"

#include <gtest/gtest.h>

#include <cmath>

namespace dre {
namespace {

const Context context{torch::kCPU, torch::kFloat64, 3};
constexpr double from = 0.2, to = 0.9;

constexpr double border = from + (to - from) / 8;

/// Large in an eighth of the interval.
Tensor peaked(const Tensor& t) { return 1 + 50 * (t.squeeze(1) < border); }

BinnedHistory learned(at::Generator& generator) {
  BinnedHistory history(from, to, context.options());
  for (int i = 0; i < 300; ++i) {
    const auto drawn = history.draw(256, generator);
    history.observe(drawn.t, peaked(drawn.t));
  }
  return history;
}

TEST(BinnedHistory, IsUniformUntilItHasSeenLosses) {
  auto generator = context.generator("times");
  const auto drawn = BinnedHistory(from, to, context.options()).draw(64, generator);
  EXPECT_TRUE(torch::allclose(drawn.weight, torch::ones_like(drawn.weight)));
  const Tensor cell = ((drawn.t.squeeze(1) - from) / (to - from) * 64).floor();
  EXPECT_TRUE(torch::equal(cell, at::arange(64, context.options()))) << "one in each cell";
}

TEST(BinnedHistory, WeightsKeepMeansUnbiased) {
  auto generator = context.generator("times");
  const BinnedHistory history = learned(generator);
  // g, and its mean over the interval
  const auto mean_of = [&](auto g) {
    Tensor means = torch::empty({400}, torch::kFloat64);
    for (int64_t i = 0; i < means.size(0); ++i) {
      const auto drawn = history.draw(16, generator);
      EXPECT_GE(drawn.t.min().item<double>(), from);
      EXPECT_LE(drawn.t.max().item<double>(), to);
      means[i] = (drawn.weight * g(drawn.t.squeeze(1))).mean();
    }
    return std::pair(means.mean().item<double>(), means.std().item<double>() / 20);
  };
  const auto [one, one_error] = mean_of([](const Tensor& t) { return torch::ones_like(t); });
  EXPECT_NEAR(one, 1, 4 * one_error);
  const auto [square, square_error] = mean_of([](const Tensor& t) { return t.square(); });
  EXPECT_NEAR(square, (to * to * to - from * from * from) / (3 * (to - from)), 4 * square_error);
}

TEST(BinnedHistory, GoesWhereLossesAreLarge) {
  auto generator = context.generator("times");
  const BinnedHistory history = learned(generator);
  const auto spread = [&](const BinnedHistory& sampler) {
    Tensor means = torch::empty({200}, torch::kFloat64);
    for (int64_t i = 0; i < means.size(0); ++i) {
      // Independent rows, so that the strata do not hide the difference.
      const auto drawn = sampler.draw(4096, generator);
      const Tensor some = at::randint(4096, {64}, generator, torch::kInt64);
      means[i] = (drawn.weight * peaked(drawn.t)).index_select(0, some).mean();
    }
    return means.std().item<double>();
  };
  EXPECT_LT(spread(history), 0.5 * spread(BinnedHistory(from, to, context.options())));
  const Tensor inside = history.draw(1000, generator).t < border;
  const double large = 51.0 / 8, small = 7.0 / 8;
  EXPECT_NEAR(inside.to(torch::kFloat64).mean().item<double>(),
              0.9 * large / (large + small) + 0.1 / 8, 0.002);
}

TEST(BinnedHistory, GoesOnFromItsState) {
  auto generator = context.generator("times");
  const BinnedHistory history = learned(generator);
  BinnedHistory other(from, to, context.options());
  other.restore(history.state());
  auto first = context.generator("same"), second = context.generator("same");
  EXPECT_TRUE(torch::equal(history.draw(50, first).t, other.draw(50, second).t));
}

}  // namespace
}  // namespace dre
