/// Properties that every method's score must have, over methods, references and bridges.
#include "dre/score/score.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "dre/base/error.h"
#include "dre/score/make_score.h"
#include "dre/score/time_scores.h"
#include "tests/support/refusal.h"
#include "tests/support/tangents.h"

namespace dre {
namespace {

using testing::difference;
using testing::draw_points;
using testing::expect_tangents;
using testing::gaussian_ends;
using testing::Points;

constexpr int64_t columns = 3;

ScoreOptions small_score() {
  ScoreOptions options;
  options.width = 12;
  options.depth = 2;
  return options;
}

ScorePtr fresh_score(const std::string& method, const BridgePtr& bridge, bool with_reference) {
  const auto path = std::make_shared<const GaussianPath>(bridge, gaussian_ends(columns));
  return make_score(method, small_score(), bridge, with_reference ? path : nullptr, columns,
                    testing::double_context());
}

/// Calls `body(label, score, bridge)` with random weights for each method, with and without
/// reference, on each bridge that the method takes.
template <class Body>
void for_each_score(Body body) {
  for (const auto& method : method_names())
    for (const auto& name : BridgeOptions::bridge_names())
      for (const bool with_reference : {false, true}) {
        const BridgePtr bridge = testing::bridge_named(name);
        if (method == "velocity" && !bridge->has_noise()) continue;
        const ScorePtr score = fresh_score(method, bridge, with_reference);
        testing::randomise(score->network().parameters());
        body(method + ", " + name + (with_reference ? ", reference" : ""), *score, bridge);
      }
}

TEST(Score, TimeTangentsAreDerivatives) {
  for_each_score([](const std::string& label, const Score& score, const BridgePtr&) {
    const auto* time = ability<TimeScore>(score);
    if (!time) return;
    const Points at = draw_points(15, columns);
    expect_tangents(label + ", residual", at,
                    [&](const Dual& x, const Dual& t) { return time->time_residual(x, t); });
    expect_tangents(label, at,
                    [&](const Dual& x, const Dual& t) { return time->time_score(x, t); });
  });
}

TEST(Score, DataTangentsAreDerivatives) {
  for_each_score([](const std::string& label, const Score& score, const BridgePtr&) {
    const auto* data = ability<DataScore>(score);
    if (!data) return;
    const Points at = draw_points(15, columns);
    expect_tangents(label, at,
                    [&](const Dual& x, const Dual& t) { return data->data_score(x, t); });
  });
}

TEST(Score, TimeScoreIsResidualPlusTheExactGaussianTimeScore) {
  const auto oracle = testing::oracle_of(gaussian_ends(columns));
  for_each_score([&](const std::string& label, const Score& score, const BridgePtr& bridge) {
    const auto* time = ability<TimeScore>(score);
    if (!time) return;
    const auto [x, t] = draw_points(20, columns);
    const Tensor residual = time->time_residual(x, t).value;
    const Tensor exact = oracle.time_score(testing::oracle_path(bridge), x, t);
    const Tensor expected = score.reference() ? residual + exact : residual;
    EXPECT_LT(difference(time->time_score(x, t).value, expected), 1e-9) << label;
  });
}

TEST(Score, ZeroNetworkWithReferenceIsTheExactGaussianScore) {
  const auto oracle = testing::oracle_of(gaussian_ends(columns));
  const auto [x, t] = draw_points(20, columns);
  for (const auto& method : method_names())
    for (const auto& name : {"linear", "vpsde", "dequantified"}) {
      const BridgePtr bridge = testing::bridge_named(name);
      if (method == "velocity" && !bridge->has_noise()) continue;
      const ScorePtr score = fresh_score(method, bridge, true);
      const auto path = testing::oracle_path(bridge);
      SCOPED_TRACE(method + ", " + name);
      if (const auto* time = ability<TimeScore>(*score)) {
        EXPECT_LT(difference(time->time_score(x, t).value, oracle.time_score(path, x, t)), 1e-9);
      }
      if (const auto* data = ability<DataScore>(*score)) {
        EXPECT_LT(difference(data->data_score(x, t).value, oracle.data_score(path, x, t)), 1e-9);
      }
      if (const auto* direct = ability<DirectRatio>(*score)) {
        EXPECT_EQ(direct->ratio_residual(x).abs().max().item<double>(), 0);
      }
    }
}

TEST(Score, CoordinatesAddUpToTheTimeScore) {
  for_each_score([](const std::string& label, const Score& score, const BridgePtr&) {
    const auto* coordinates = ability<VectorTimeScore>(score);
    if (!coordinates) return;
    const auto [x, t] = draw_points(20, columns);
    const Tensor sum = coordinates->coordinate_scores(x, t).sum(1);
    EXPECT_LT(difference(sum, coordinates->time_score(x, t).value), 1e-12) << label;
  });
}

TEST(Score, JointHeadsAreTheSameTogetherAndApart) {
  for_each_score([](const std::string& label, const Score& score, const BridgePtr&) {
    const auto* joint = dynamic_cast<const JointScore*>(&score);
    if (!joint) return;
    const Points at = draw_points(20, columns);
    const Points v = testing::direction_of(at);
    const Dual x(at.x, v.x), t(at.t, v.t);
    const JointScore::Both both = joint->both(x, t);
    const Dual time = joint->time_score(x, t), data = joint->data_score(x, t);
    EXPECT_LT(difference(both.time.value, time.value), 1e-13) << label;
    EXPECT_LT(difference(both.time.tangent, time.tangent), 1e-13) << label;
    EXPECT_LT(difference(both.data.value, data.value), 1e-13) << label;
    EXPECT_LT(difference(both.data.tangent, data.tangent), 1e-13) << label;
  });
}

/// The table of methods names abilities for messages; the classes decide what is true.
TEST(Score, ListedAbilitiesAreTheRealOnes) {
  const auto listed = [](AbilityKind kind, const std::string& method) {
    const Names names = methods_with(kind);
    return std::find(names.begin(), names.end(), method) != names.end();
  };
  for (const auto& method : method_names()) {
    const ScorePtr score = fresh_score(method, testing::bridge_named("brownian"), false);
    EXPECT_EQ(ability<DataScore>(*score) != nullptr, listed(AbilityKind::data_score, method))
        << method;
    EXPECT_EQ(ability<FlowField>(*score) != nullptr, listed(AbilityKind::flow, method)) << method;
    EXPECT_TRUE(ability<TimeScore>(*score) || ability<DirectRatio>(*score)) << method;
    // The line path takes the time score of whatever has a data score.
    EXPECT_TRUE(!ability<DataScore>(*score) || ability<TimeScore>(*score)) << method;
    EXPECT_TRUE(!ability<FlowField>(*score) || ability<DataScore>(*score)) << method;
  }
}

TEST(Score, SameContextGivesTheSameWeights) {
  for (const auto& method : method_names()) {
    const BridgePtr bridge = testing::bridge_named("brownian");
    const auto weights = [&] {
      return fresh_score(method, bridge, false)->network().parameters().named();
    };
    const auto first = weights(), second = weights();
    for (size_t i = 0; i < first.size(); ++i)
      EXPECT_TRUE(torch::equal(first[i].second, second[i].second)) << method;
  }
}

TEST(Score, MisuseIsRefused) {
  const BridgePtr linear = testing::bridge_named("linear");
  EXPECT_NE(testing::refusal([&] { fresh_score("velocity", linear, false); }).find("brownian"),
            std::string::npos);
  EXPECT_NE(testing::refusal([&] { fresh_score("tree", linear, false); }).find("which-time"),
            std::string::npos);
  const auto other = std::make_shared<const GaussianPath>(linear, gaussian_ends(columns + 1));
  EXPECT_NE(testing::refusal([&] {
              make_score("time", small_score(), linear, other, columns, testing::double_context());
            }).find("dimension 3"),
            std::string::npos);
  const ScorePtr time = fresh_score("time", linear, false);
  const auto [x, t] = draw_points(4, columns + 1);
  EXPECT_NE(testing::refusal([&] { ability<TimeScore>(*time)->time_score(x, t); }).find("[n, 3]"),
            std::string::npos);
}

}  // namespace
}  // namespace dre
