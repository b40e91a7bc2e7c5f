#include "dre/times/sampler.h"

#include <gtest/gtest.h>

#include <cmath>

#include "dre/base/error.h"
#include "dre/times/density.h"

namespace dre {
namespace {

const Context kContext{torch::kCPU, torch::kFloat64, 31};

/// A loss whose size grows steeply: sqrt(E loss²) = size(t).
Tensor size_of_loss(const Tensor& t) { return 0.2 + 3 * t.square(); }

Tensor losses_at(const Tensor& t, at::Generator& generator) {
  const Tensor flat = t.reshape({-1});
  return size_of_loss(flat) * normal(flat.sizes(), flat.options(), generator);
}

struct Rig {
  std::unique_ptr<TimeSampler> sampler;
  at::Generator generator;
};

/// Any sampler, with a history of losses behind it where it wants one.
Rig trained(const std::string& name, double clip = 0, int64_t batches = 60) {
  TimeOptions options;
  options.times = name;
  options.clip = clip;
  options.history = 30;
  const Tensor grid = torch::linspace(0, 1, 40, torch::kFloat64);
  Rig out{make_time_sampler(options, name == "tabulated" ? 1 / (0.05 + grid) : Tensor()),
          kContext.generator(name)};
  for (int64_t i = 0; i < batches; ++i) {
    const Times times = out.sampler->draw(128, kContext.options(), out.generator);
    out.sampler->observe(times, losses_at(times.t, out.generator));
  }
  return out;
}

struct Estimate {
  double mean, error;
};

/// Mean of weight * g(t) over many batches, with the standard error of the batches' means.
Estimate integral_of(Rig& rig, Tensor (*g)(const Tensor&), int64_t n) {
  const int64_t batches = 400;
  Tensor means = torch::empty({batches}, kContext.options());
  for (int64_t i = 0; i < batches; ++i) {
    const Times times = rig.sampler->draw(n, kContext.options(), rig.generator);
    means[i] = (times.weight * g(times.t.squeeze(1))).mean();
  }
  return {means.mean().item<double>(), means.std().item<double>() / std::sqrt(batches)};
}

Tensor constant(const Tensor& t) { return torch::ones_like(t); }
Tensor cubic(const Tensor& t) { return 4 * t.pow(3) - 1; }

bool biased(const std::string& name) { return name == "history-multiplicative"; }

TEST(Times, ShapesTypesAndRangeOfEverySampler) {
  for (const auto& name : time_sampler_names()) {
    for (const double clip : {0.0, 0.01}) {
      for (const auto type : {torch::kFloat64, torch::kFloat32}) {
        SCOPED_TRACE(text(name, " ", clip));
        Rig rig = trained(name, clip);
        const Times times = rig.sampler->draw(1000, torch::dtype(type), rig.generator);
        EXPECT_EQ(times.t.sizes(), torch::IntArrayRef({1000, 1}));
        EXPECT_EQ(times.weight.sizes(), torch::IntArrayRef({1000}));
        EXPECT_EQ(times.boundary_weight.sizes(), torch::IntArrayRef({1000}));
        EXPECT_EQ(times.t.scalar_type(), type);
        EXPECT_EQ(times.weight.scalar_type(), type);
        EXPECT_GE(times.t.min().item<double>(), clip - 1e-9);
        EXPECT_LE(times.t.max().item<double>(), 1 - clip + 1e-7);
        EXPECT_GE(times.weight.min().item<double>(), 0);
        EXPECT_EQ(torch::equal(times.boundary_weight, torch::ones_like(times.weight)),
                  !biased(name));
      }
    }
  }
}

TEST(Times, WeightedMeansAreUnbiased) {
  for (const auto& name : time_sampler_names()) {
    if (biased(name)) continue;
    for (const double clip : {0.0, 0.1}) {
      SCOPED_TRACE(text(name, " ", clip));
      Rig rig = trained(name, clip);
      const double low = clip, high = 1 - clip;
      const Estimate one = integral_of(rig, constant, 20), g = integral_of(rig, cubic, 20);
      EXPECT_NEAR(one.mean, high - low, 4 * one.error + 1e-12);
      EXPECT_NEAR(g.mean, std::pow(high, 4) - std::pow(low, 4) - (high - low), 4 * g.error + 1e-12);
    }
  }
}

TEST(Times, ThePublishedVariantIsBiasedByItsCurve) {
  // It integrates cubic * size / ∫ size instead of cubic: with size = 0.2 + 3 t²,
  // ∫ (4t³ - 1)(0.2 + 3t²) = 1 and ∫ size = 1.2.
  Rig rig = trained("history-multiplicative");
  const Estimate g = integral_of(rig, cubic, 50);
  EXPECT_NEAR(g.mean, 1 / 1.2, 4 * g.error + 0.1);
  const Times times = rig.sampler->draw(100, kContext.options(), rig.generator);
  EXPECT_TRUE(torch::equal(times.boundary_weight, times.weight));
}

TEST(Times, StratificationCutsTheVariance) {
  Rig independent = trained("uniform"), strata = trained("stratified");
  const double plain = integral_of(independent, cubic, 64).error;
  const double less = integral_of(strata, cubic, 64).error;
  EXPECT_LT(less, plain / 20);
  const Times times = strata.sampler->draw(64, kContext.options(), strata.generator);
  const Tensor cell = (64 * times.t.squeeze(1)).floor();
  EXPECT_TRUE(torch::equal(cell, torch::arange(64, kContext.options())));
}

TEST(Times, HistoryLearnsTheSizeOfTheLoss) {
  Rig rig = trained("history", 0, 200);
  const Times times = rig.sampler->draw(4000, kContext.options(), rig.generator);
  const Tensor t = times.t.squeeze(1), density = 1 / times.weight;
  const Tensor wanted = 0.9 * size_of_loss(t) / 1.2 + 0.1;
  // 30 batches of 128: the curve's relative standard error is about 3 %.
  EXPECT_LT(((density - wanted) / wanted).abs().mean().item<double>(), 0.1);
  EXPECT_LE(times.weight.max().item<double>(), 1 / 0.1);
  Rig flat = trained("uniform");
  const Tensor loss_variance = (times.weight * size_of_loss(t)).square().mean();
  const Tensor u = flat.sampler->draw(4000, kContext.options(), flat.generator).t;
  EXPECT_LT(loss_variance.item<double>(), 0.75 * size_of_loss(u).square().mean().item<double>());
}

TEST(Times, HistoryIsUniformUntilItIsFull) {
  for (const char* name : {"history", "history-multiplicative"}) {
    Rig early = trained(name, 0, 29), full = trained(name, 0, 30);
    const auto flat = [](Rig& s) {
      const Times times = s.sampler->draw(100, kContext.options(), s.generator);
      return torch::allclose(times.weight, torch::ones_like(times.weight), 1e-12, 1e-12);
    };
    EXPECT_TRUE(flat(early)) << name;
    EXPECT_FALSE(flat(full)) << name;
    const Times smaller = full.sampler->draw(64, kContext.options(), full.generator);
    full.sampler->observe(smaller, torch::ones({64}, kContext.options()));
    EXPECT_TRUE(flat(full)) << "a batch of another size starts anew";
  }
}

TEST(Times, LossesThatAreNotFiniteOrZeroDoNoHarm) {
  Rig rig = trained("history");
  const auto before = rig.sampler->state();
  const Times times = rig.sampler->draw(128, kContext.options(), rig.generator);
  rig.sampler->observe(times, torch::full({128}, std::nan("")));
  EXPECT_TRUE(torch::equal(at(rig.sampler->state(), "losses"), at(before, "losses")));
  for (int i = 0; i < 30; ++i) rig.sampler->observe(times, torch::zeros({128}));
  const Times after = rig.sampler->draw(128, kContext.options(), rig.generator);
  EXPECT_TRUE(torch::allclose(after.weight, torch::ones_like(after.weight)));
}

TEST(Times, StateContinuesWithTheSameBytes) {
  for (const auto& name : time_sampler_names()) {
    for (const int64_t batches : {0, 7, 45}) {
      SCOPED_TRACE(text(name, " ", batches));
      Rig one = trained(name, 0, batches), other = trained(name, 0, 0);
      other.sampler->restore(one.sampler->state());
      other.generator = one.generator.clone();
      for (int i = 0; i < 40; ++i) {
        const Times a = one.sampler->draw(128, kContext.options(), one.generator);
        const Times b = other.sampler->draw(128, kContext.options(), other.generator);
        ASSERT_TRUE(torch::equal(a.t, b.t));
        ASSERT_TRUE(torch::equal(a.weight, b.weight));
        one.sampler->observe(a, losses_at(a.t, one.generator));
        other.sampler->observe(b, losses_at(b.t, other.generator));
      }
    }
  }
}

TEST(Times, SameSeedSameTimes) {
  for (const auto& name : time_sampler_names()) {
    Rig one = trained(name), other = trained(name);
    const Times a = one.sampler->draw(50, kContext.options(), one.generator);
    const Times b = other.sampler->draw(50, kContext.options(), other.generator);
    EXPECT_TRUE(torch::equal(a.t, b.t)) << name;
    EXPECT_FALSE(torch::equal(a.t, one.sampler->draw(50, kContext.options(), one.generator).t));
  }
}

TEST(Times, MisuseIsRefused) {
  TimeOptions options;
  options.times = "sobol";
  EXPECT_THROW(make_time_sampler(options), Error);
  options.times = "tabulated";
  EXPECT_THROW(make_time_sampler(options), Error);
  EXPECT_THROW(make_time_sampler(options, torch::zeros({10})), Error);
  options.times = "uniform";
  EXPECT_THROW(make_time_sampler(options, torch::ones({10})), Error);
  options.clip = 0.5;
  EXPECT_THROW(make_time_sampler(options), Error);
  Rig history = trained("history"), uniform = trained("uniform");
  EXPECT_THROW(uniform.sampler->restore(history.sampler->state()), Error);
  EXPECT_THROW(history.sampler->restore({{"t", torch::zeros({3, 4})}}), Error);
  EXPECT_THROW(uniform.sampler->draw(0, kContext.options(), uniform.generator), Error);
}

TEST(TabulatedDensity, IsNormalisedAndInvertsItsCumulative) {
  const Tensor heights = torch::tensor({1.0, 4.0, 0.1, 2.0, 2.0}, torch::kFloat64);
  const TabulatedDensity density(heights, 0.2, 0.8);
  const Tensor t = torch::linspace(0.2, 0.8, 6001, torch::kFloat64);
  const Tensor heights_at = density(t);
  const Tensor cells = 1e-4 * (heights_at.narrow(0, 0, 6000) + heights_at.narrow(0, 1, 6000)) / 2;
  EXPECT_NEAR(cells.sum().item<double>(), 1, 1e-6);
  const Tensor u = torch::cat({torch::zeros({1}, torch::kFloat64), cells.cumsum(0)}).clamp_max(1);
  EXPECT_LT((density.inverse_cdf(u) - t).abs().max().item<double>(), 1e-5);
  EXPECT_NEAR(density.inverse_cdf(torch::ones({1}, torch::kFloat64)).item<double>(), 0.8, 1e-12);
}

}  // namespace
}  // namespace dre
