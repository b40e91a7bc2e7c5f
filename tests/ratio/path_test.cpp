/// All paths give the closed form when the score is exact.
#include "dre/ratio/path.h"

#include <gtest/gtest.h>

#include <functional>

#include "dre/base/error.h"
#include "dre/score/make_score.h"
#include "tests/support/exact_scores.h"
#include "tests/support/refusal.h"

namespace dre {
namespace {

using testing::gaussian_ends;

constexpr int64_t path_columns = 2;

Tensor sample_rows() { return 1.2 * testing::draw_points(30, path_columns).x; }

IntegrateOptions by(const std::string& method) {
  IntegrateOptions options;
  options.method = method;
  options.nodes = 100;
  return options;
}

/// log r between the sides themselves: the end correction makes up for paths that stop short.
Tensor exact_log_ratio(const GaussianEnds& ends, const Tensor& x) {
  return testing::oracle_of(ends).log_ratio(x);
}

/// Within the tolerance asked for (1e-5 absolute and relative, a few of them a path), or within
/// what the result itself admits. Runge-Kutta's tolerance is that of a step, and its many small
/// steps towards a root add up.
void expect_exact(const PathRatio& got, const Tensor& exact, const std::string& label,
                  double tolerance = 5e-5) {
  const Tensor allowed = torch::max(3 * got.error, tolerance * (1 + exact.abs()));
  const Tensor error = (got.log_ratio - exact).abs();
  EXPECT_TRUE((error <= allowed).all().item<bool>())
      << label << ": " << error.max().item<double>() << " with an estimate of "
      << got.error.max().item<double>();
  EXPECT_EQ(got.log_ratio.scalar_type(), torch::kFloat64);
  EXPECT_GT(got.evaluations, 0) << label;
}

/// Root singularities at an end are integrable, but no fixed rule and no Runge-Kutta step of
/// bounded number is exact there.
bool has_root(const std::string& bridge) { return bridge == "arithmetic" || bridge == "vpsde"; }

template <class Body>
void for_each_case(Body body) {
  for (const auto& name : BridgeOptions::bridge_names())
    for (const auto& method : integrator_names()) {
      const GaussianPath path(testing::bridge_named(name), gaussian_ends(path_columns));
      body(name + ", " + method, path, by(method), has_root(name));
    }
}

TEST(Path, HorizontalIsExactOnEveryBridge) {
  const Tensor x = sample_rows(), exact = exact_log_ratio(gaussian_ends(path_columns), x);
  for_each_case([&](const std::string& label, const GaussianPath& path,
                    const IntegrateOptions& options, bool root) {
    const PathRatio got = horizontal_ratio(testing::exact_time_score(path), path, x, options);
    expect_exact(got, exact, label, root && options.method == "rk45" ? 5e-4 : 5e-5);
    if (!root) {
      EXPECT_LT((got.log_ratio - exact).abs().max().item<double>(), 1e-3) << label;
      EXPECT_EQ(got.status, Status::ok) << label;
    }
  });
}

TEST(Path, LineIsExactOnEveryBridge) {
  const Tensor x = sample_rows(), exact = exact_log_ratio(gaussian_ends(path_columns), x);
  for_each_case([&](const std::string& label, const GaussianPath& path,
                    const IntegrateOptions& options, bool root) {
    const PathRatio got = line_ratio(testing::exact_joint_score(path), path, x, options);
    expect_exact(got, exact, label, root && options.method == "rk45" ? 5e-4 : 5e-5);
    if (!root) {
      EXPECT_LT((got.log_ratio - exact).abs().max().item<double>(), 1e-3) << label;
    }
  });
}

TEST(Path, LineToAnyPointsIsExact) {
  const Tensor x = sample_rows(), exact = exact_log_ratio(gaussian_ends(path_columns), x);
  const Tensor z = x.flip(0) - 0.5;
  for (const char* bridge : {"linear", "trigonometric", "brownian"}) {
    const GaussianPath path(testing::bridge_named(bridge), gaussian_ends(path_columns));
    const PathRatio got = line_ratio_to(testing::exact_joint_score(path), path, x, z, {});
    expect_exact(got, exact, bridge, 5e-4);
  }
}

/// Without its end correction the vpsde bridge is off by more than any tolerance: the test above
/// would see it missing.
TEST(Path, VpsdeNeedsItsEndCorrection) {
  const Tensor x = sample_rows();
  const GaussianPath path(testing::bridge_named("vpsde"), gaussian_ends(path_columns));
  const Tensor correction = path.log_ratio(x) - path.path_log_ratio(x);
  EXPECT_GT(correction.abs().max().item<double>(), 2e-3);
}

TEST(Path, VelocityScoreIsExactOnAllPaths) {
  const GaussianEnds ends = gaussian_ends(path_columns);
  const Tensor x = sample_rows(), exact = exact_log_ratio(ends, x);
  for (const char* curve : {"linear", "trigonometric"})
    for (const double smoothing : {0.0, 0.05}) {
      const BridgePtr bridge =
          std::make_shared<NoisyBridge>(testing::bridge_named(curve), 1.2, smoothing);
      const GaussianPath path(bridge, ends);
      const VelocityScore score = testing::exact_velocity_score(ends, bridge);
      for (const auto& name : path_names())
        for (const auto& method : integrator_names())
          expect_exact(path_ratio(name, score, path, x, by(method)), exact,
                       text(curve, ", ", smoothing, ", ", name, ", ", method));
    }
}

TEST(Path, OneSidedVelocityScoreIsExactOnAllPaths) {
  const GaussianEnds ends = testing::one_sided_ends(path_columns);
  const Tensor x = sample_rows(), exact = exact_log_ratio(ends, x);
  const testing::TurningCase on = testing::on_one_sided();
  const OneSidedVelocityScore score = testing::exact_one_sided_score(ends, on);
  const GaussianPath path(on.bridge, ends);
  for (const auto& name : path_names())
    for (const auto& method : integrator_names())
      expect_exact(path_ratio(name, score, path, x, by(method)), exact, name + ", " + method);
}

/// The network corrects a reference that is wrong: what it adds is integrated, the reference's part
/// is its closed form.
TEST(Path, ResidualOfAWrongReferenceIsIntegrated) {
  GaussianEnds wrong = gaussian_ends(path_columns);
  wrong.mean0 = wrong.mean0 + 0.4;
  wrong.variance1 = wrong.variance1 * 1.3;
  const Tensor x = sample_rows(), exact = exact_log_ratio(gaussian_ends(path_columns), x);
  for (const char* name : {"linear", "trigonometric", "brownian"}) {
    const BridgePtr bridge = testing::bridge_named(name);
    const GaussianPath truth(bridge, gaussian_ends(path_columns));
    const auto reference = std::make_shared<const GaussianPath>(bridge, wrong);
    const auto residual = [&](const Dual& x, const Dual& t) {
      const auto time_score = [&](const GaussianPath& path) {
        return path.time_score(x.value, t.value).value.sum(1, true);
      };
      return Dual(time_score(truth) - time_score(*reference));
    };
    const ScalarScore score(testing::exact_parts(residual, 1, bridge, path_columns, reference));
    for (const auto& method : integrator_names())
      expect_exact(horizontal_ratio(score, *reference, x, by(method)), exact,
                   text(name, ", ", method));
  }
}

/// A network of zeros on the exact reference costs nothing but a look: the closed form is exact.
TEST(Path, ZeroNetworkOnTheReferenceIsTheClosedForm) {
  const GaussianEnds ends = gaussian_ends(path_columns);
  const Tensor x = sample_rows(), exact = exact_log_ratio(ends, x);
  for (const auto& method : method_names())
    for (const auto& name : BridgeOptions::bridge_names()) {
      const BridgePtr bridge = testing::bridge_named(name);
      if (method == "velocity" && !bridge->has_noise()) continue;
      const auto path = std::make_shared<const GaussianPath>(bridge, ends);
      ScoreOptions small;
      small.width = 4;
      const ScorePtr score =
          make_score(method, small, bridge, path, path_columns, testing::double_context());
      const PathRatio got = horizontal_ratio(*score, *path, x, {});
      EXPECT_LT((got.log_ratio - exact).abs().max().item<double>(), 1e-9) << method << ", " << name;
      EXPECT_EQ(got.status, Status::ok) << method << ", " << name;
    }
}

TEST(Path, NoRowsGiveNoRatios) {
  const GaussianEnds ends = gaussian_ends(path_columns);
  const BridgePtr bridge = testing::bridge_named("brownian");
  const GaussianPath path(bridge, ends);
  const VelocityScore score = testing::exact_velocity_score(ends, bridge);
  for (const auto& name : path_names())
    for (const auto& method : integrator_names()) {
      const Tensor none = torch::empty({0, path_columns}, torch::kFloat64);
      EXPECT_EQ(path_ratio(name, score, path, none, by(method)).log_ratio.size(0), 0)
          << name << ", " << method;
    }
}

TEST(Path, WhatAScoreCannotDoIsRefusedWithTheMethodsThatCan) {
  const GaussianPath path(testing::bridge_named("linear"), gaussian_ends(path_columns));
  const ScalarScore time = testing::exact_time_score(path);
  const JointScore joint = testing::exact_joint_score(path);
  const Tensor x = sample_rows();
  const std::string line = testing::refusal([&] { path_ratio("line", time, path, x, {}); });
  EXPECT_NE(line.find("joint or velocity"), std::string::npos) << line;
  const std::string flow = testing::refusal([&] { path_ratio("flow", joint, path, x, {}); });
  EXPECT_NE(flow.find("velocity"), std::string::npos) << flow;
  const std::string unknown = testing::refusal([&] { path_ratio("diagonal", time, path, x, {}); });
  EXPECT_NE(unknown.find("horizontal, line, flow"), std::string::npos) << unknown;
}

}  // namespace
}  // namespace dre
