#include "dre/integrate/ode.h"

#include <gtest/gtest.h>

#include <cmath>

#include "dre/base/error.h"
#include "dre/integrate/tableau.h"

namespace dre {
namespace {

const auto in_double = torch::dtype(torch::kFloat64);

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) sum += a[i] * b[i];
  return sum;
}

std::vector<double> times(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> out(a.size());
  for (size_t i = 0; i < a.size(); ++i) out[i] = a[i] * b[i];
  return out;
}

std::vector<double> through(const Tableau& t, const std::vector<double>& v) {
  std::vector<double> out;
  for (const auto& row : t.a) out.push_back(dot(row, v));
  return out;
}

/// Butcher's order conditions: weights against every rooted tree of up to `order` nodes.
void expect_order(const Tableau& t, const std::vector<double>& b, int order) {
  const auto c = t.c, cc = times(c, c), ccc = times(cc, c), ac = through(t, c),
             acc = through(t, cc);
  const std::vector<double> one(c.size(), 1.0);
  const auto aac = through(t, ac);
  struct Condition {
    int order;
    std::vector<double> tree;
    double value;
  };
  const std::vector<Condition> conditions = {
      {1, one, 1},
      {2, c, 1.0 / 2},
      {3, cc, 1.0 / 3},
      {3, ac, 1.0 / 6},
      {4, ccc, 1.0 / 4},
      {4, times(c, ac), 1.0 / 8},
      {4, acc, 1.0 / 12},
      {4, aac, 1.0 / 24},
      {5, times(cc, cc), 1.0 / 5},
      {5, times(cc, ac), 1.0 / 10},
      {5, times(ac, ac), 1.0 / 20},
      {5, times(c, acc), 1.0 / 15},
      {5, times(c, aac), 1.0 / 30},
      {5, through(t, ccc), 1.0 / 20},
      {5, through(t, times(c, ac)), 1.0 / 40},
      {5, through(t, acc), 1.0 / 60},
      {5, through(t, aac), 1.0 / 120},
  };
  double worst_above = 0;
  for (const auto& condition : conditions) {
    const double gap = std::abs(dot(b, condition.tree) - condition.value);
    if (condition.order <= order) {
      EXPECT_LT(gap, 1e-14) << "order " << condition.order;
    }
    if (condition.order == order + 1) worst_above = std::max(worst_above, gap);
  }
  if (order < 5) {
    EXPECT_GT(worst_above, 1e-5);
  }
}

TEST(Tableau, OrderConditions) {
  const Tableau pair = dormand_prince();
  expect_order(pair, pair.b, 5);
  std::vector<double> embedded = pair.b;
  for (size_t i = 0; i < embedded.size(); ++i) embedded[i] -= pair.error[i];
  expect_order(pair, embedded, 4);
  expect_order(classical_rk4(), classical_rk4().b, 4);
  for (const Tableau& t : {pair, classical_rk4()}) {
    for (size_t i = 0; i < t.c.size(); ++i)
      EXPECT_NEAR(dot(t.a[i], std::vector<double>(t.a[i].size(), 1.0)), t.c[i], 1e-14);
  }
  EXPECT_EQ(std::vector<double>(pair.b.begin(), pair.b.end() - 1), pair.a.back());
}

/// y'' = -y as a system; y(t) = (cos t, -sin t) from (1, 0).
Tensor oscillator(const Tensor& y, double) {
  return torch::stack({y.select(1, 1), -y.select(1, 0)}, 1);
}

Tensor start() { return torch::tensor({{1.0, 0.0}}, in_double); }

double oscillator_error(const OdeSolution& solution, double t) {
  const Tensor exact = torch::tensor({{std::cos(t), -std::sin(t)}}, in_double);
  return (solution.y - exact).abs().max().item<double>();
}

TEST(Ode, FixedStepsConvergeWithOrderFour) {
  OdeOptions options;
  options.method = "rk4";
  std::vector<double> errors;
  for (const int64_t steps : {20, 40}) {
    options.steps = steps;
    const auto solution = solve_ode(oscillator, start(), 0, 3, options);
    EXPECT_EQ(solution.evaluations, 4 * steps);
    errors.push_back(oscillator_error(solution, 3));
  }
  EXPECT_NEAR(std::log2(errors[0] / errors[1]), 4, 0.1);
}

TEST(Ode, AdaptiveErrorFallsWithTheToleranceAsOrderFiveDoes) {
  std::vector<double> errors, steps;
  for (const double tolerance : {1e-6, 1e-11}) {
    OdeOptions options;
    options.rtol = options.atol = tolerance;
    const auto solution = solve_ode(oscillator, start(), 0, 20, options);
    EXPECT_EQ(solution.status, Status::ok);
    EXPECT_EQ(solution.evaluations, 2 + 6 * (solution.accepted + solution.rejected));
    errors.push_back(oscillator_error(solution, 20));
    steps.push_back(static_cast<double>(solution.accepted));
  }
  const double slope = std::log(errors[0] / errors[1]) / std::log(steps[1] / steps[0]);
  EXPECT_NEAR(slope, 5, 0.35);
}

TEST(Ode, BackwardsUndoesForwards) {
  for (const char* norm : {"rms", "max"}) {
    OdeOptions options;
    options.norm = norm;
    options.rtol = options.atol = 1e-9;
    const VectorField field = [](const Tensor& y, double t) { return y.sin() + t; };
    const Tensor y0 = torch::linspace(-2, 2, 12, in_double).view({4, 3});
    const auto there = solve_ode(field, y0, 0, 2, options);
    const auto back = solve_ode(field, there.y, 2, 0, options);
    EXPECT_LT((back.y - y0).abs().max().item<double>(), 1e-7);
    EXPECT_EQ(there.error.sizes(), torch::IntArrayRef({4}));
    EXPECT_GT(there.error.min().item<double>(), 0);
  }
}

TEST(Ode, MaxNormProtectsASingleHardRow) {
  Tensor rate = torch::full({500, 1}, 0.1, in_double);
  rate[17] = 30;
  const VectorField decay = [&](const Tensor& y, double) { return -rate * y; };
  const auto worst = [&](const char* norm) {
    OdeOptions options;
    options.norm = norm;
    const auto solution = solve_ode(decay, torch::ones_like(rate), 0, 0.1, options);
    return std::abs(solution.y[17].item<double>() - std::exp(-3.0));
  };
  EXPECT_LT(worst("max"), 1e-5);
  EXPECT_GT(worst("rms"), worst("max"));
}

TEST(Ode, TroubleIsAStatus) {
  OdeOptions options;
  const VectorField explode = [](const Tensor& y, double) { return y.square(); };
  const auto blown = solve_ode(explode, torch::ones({1, 1}, in_double), 0, 2, options);
  EXPECT_NE(blown.status, Status::ok);
  const VectorField nan = [](const Tensor& y, double) { return y * std::nan(""); };
  EXPECT_EQ(solve_ode(nan, start(), 0, 1, options).status, Status::non_finite);
  options.max_steps = 3;
  const auto unfinished = solve_ode(oscillator, start(), 0, 100, options);
  EXPECT_EQ(unfinished.status, Status::not_converged);
  EXPECT_EQ(unfinished.accepted + unfinished.rejected, 3);
  options.method = "rk4";
  EXPECT_EQ(solve_ode(nan, start(), 0, 1, options).status, Status::non_finite);
}

TEST(Ode, EmptyBatchesAndIntervals) {
  const OdeOptions options;
  const auto none = solve_ode(oscillator, torch::zeros({0, 2}, in_double), 0, 1, options);
  EXPECT_EQ(none.y.size(0), 0);
  EXPECT_EQ(none.status, Status::ok);
  const auto nowhere = solve_ode(oscillator, start(), 1, 1, options);
  EXPECT_TRUE(torch::equal(nowhere.y, start()));
  EXPECT_EQ(nowhere.evaluations, 0);
  EXPECT_THROW(solve_ode(oscillator, torch::zeros({2}, in_double), 0, 1, options), Error);
  OdeOptions wrong;
  wrong.method = "euler";
  EXPECT_THROW(solve_ode(oscillator, start(), 0, 1, wrong), Error);
}

}  // namespace
}  // namespace dre
