/// Score matching by dual propagation against the same losses written with plain tensor operations
/// and double backward.
#include "dre/objective/score_matching.h"

#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include "dre/base/error.h"
#include "dre/objective/make_objective.h"
#include "dre/score/make_score.h"
#include "tests/dual/jvp.h"
#include "tests/support/gaussian_pair.h"

namespace dre {
namespace {

using testing::difference;
using testing::gaussian_ends;

constexpr int64_t columns = 3;

using testing::Tensors;

/// Gradient of a sum that can itself be differentiated.
Tensor slope(const Tensor& y, const Tensor& x) {
  return torch::autograd::grad({y.sum()}, {x}, {}, true, true)[0];
}

/// The layers "name.0", "name.1", ... with SiLU between them.
Tensor plain_stack(const Parameters& parameters, const std::string& name, const Tensor& x) {
  Tensor hidden = x;
  for (int layer = 0;; ++layer) {
    const std::string prefix = text(name, ".", layer);
    hidden = hidden.matmul(at(parameters.named(), prefix + ".weight").t()) +
             at(parameters.named(), prefix + ".bias");
    const NamedTensors next = under(parameters.named(), text(name, ".", layer + 1));
    if (next.empty()) return hidden;
    hidden = hidden * torch::sigmoid(hidden);
  }
}

struct Plain {
  Tensor time;  ///< [n]
  Tensor data;  ///< [n, d], joint only
};

/// The model's scores with plain operations; the reference comes from the oracle's log-density.
class PlainScore final {
 public:
  PlainScore(const Score& score, BridgePtr bridge) : score_(score), bridge_(std::move(bridge)) {}

  Plain operator()(const Tensor& x, const Tensor& t) const {
    Plain out = network(x, t);
    if (!score_.reference()) return out;
    const Tensor log_density =
        testing::oracle_of(gaussian_ends(columns)).log_prob(testing::oracle_path(bridge_), x, t);
    out.time = out.time + slope(log_density, t).squeeze(1);
    if (out.data.defined()) out.data = out.data + slope(log_density, x);
    return out;
  }

 private:
  Plain network(const Tensor& x, const Tensor& t) const {
    const Parameters& p = score_.network().parameters();
    const Tensor in = torch::cat({x, t}, 1);
    if (under(p.named(), "trunk").empty()) return {plain_stack(p, "layer", in).squeeze(1), {}};
    const auto halves = plain_stack(p, "trunk", in).chunk(2, 1);
    return {plain_stack(p, "time", halves[0]).squeeze(1), plain_stack(p, "data", halves[1])};
  }

  const Score& score_;
  BridgePtr bridge_;
};

struct MatchingProblem {
  std::string method, bridge, weight, data_term, matching;
  bool with_reference;

  std::string label() const {
    return method + ", " + bridge + ", " + weight + ", " + data_term + ", " + matching +
           (with_reference ? ", reference" : "");
  }
};

std::vector<MatchingProblem> matching_problems() {
  std::vector<MatchingProblem> all;
  for (const auto& [matching, with_reference] : std::vector<std::pair<std::string, bool>>{
           {"boundary", false}, {"boundary", true}, {"pathwise", false}, {"pathwise", true}})
    for (const char* bridge : {"linear", "trigonometric", "vpsde", "brownian"})
      for (const char* weight : {"one", "parabola", "noise"}) {
        all.push_back({"time", bridge, weight, "sliced", matching, with_reference});
        all.push_back({"joint", bridge, weight, "sliced", matching, with_reference});
        if (bridge == std::string("brownian"))
          all.push_back({"joint", bridge, weight, "denoising", matching, with_reference});
      }
  return all;
}

Tensor lambda_at(const std::string& weight, const Bridge& bridge, const Tensor& t) {
  const auto [from, to] = bridge.interval();
  if (weight == "one") return torch::ones_like(t);
  if (weight == "parabola") return (t - from) * (to - t);
  const Coefficients c = bridge.at(t);
  return 1 - c.a.value.square() + c.variance.value;
}

/// The loss of the paper's appendix (time) and of its theorem 1 with the missing term (joint).
class PlainLoss final {
 public:
  PlainLoss(const MatchingProblem& problem, const PlainScore& score, const Bridge& bridge)
      : problem_(problem), score_(score), bridge_(bridge) {}

  Tensor operator()(const Batch& batch, const Tensor& times, at::Generator& generator) const {
    const bool pathwise = problem_.matching == "pathwise";
    const Tensor u = times.detach().clone().requires_grad_();
    const Tensor mapped = pathwise ? path_time(u) : 1 * u;
    const Tensor du = slope(mapped, u).squeeze(1).detach();
    const Tensor t = mapped.detach().requires_grad_();
    const BridgePoint point = draw_point(bridge_, batch.x0, batch.x1, t.detach(), generator);
    const Tensor x = point.x.detach().requires_grad_();
    const bool joint = problem_.method == "joint", sliced = problem_.data_term == "sliced";
    const Tensor v =
        joint && sliced ? normal(x.sizes(), x.options(), generator) : torch::zeros_like(x);
    const Plain s = score_(x, t);
    const Tensor lambda = lambda_at(problem_.weight, bridge_, t) + 0 * t;
    const Tensor rate = slope(lambda, t).squeeze(1).detach(), l = lambda.squeeze(1).detach();
    // The objective has one tangent direction: its cross terms vanish in expectation only.
    const Tensors direction = pathwise
                                  ? Tensors{v + velocity(batch, point, t), torch::zeros_like(t)}
                                  : Tensors{v, torch::ones_like(t)};
    const Tensor moved = testing::jvp(s.time, {x, t}, direction);
    Tensor inside = pathwise ? l * (0.5 * s.time.square() - moved)
                             : l * (0.5 * s.time.square() + moved) + rate * s.time;
    if (joint && sliced) {
      const Tensor along = testing::jvp(s.data, {x, t}, direction);
      inside = inside + l * (0.5 * s.data.square() + v * along).sum(1);
    } else if (joint) {
      inside = inside + 0.5 * (point.at.sigma() * s.data + point.noise).square().sum(1);
    }
    Tensor half = (inside * du).mean() * bridge_.interval().length();
    if (!pathwise) half = half + boundary(batch, generator);
    return joint ? half : 2 * half;
  }

 private:
  Tensor path_time(const Tensor& u) const {
    const auto [from, to] = bridge_.interval();
    if (from == 0 && to == 1) return 1 * u;
    return from + (to - from) * (0.5 - 0.5 * torch::cos(M_PI * (u - from) / (to - from)));
  }

  /// dx_t/dt of the same samples and noise, by differentiating the path.
  Tensor velocity(const Batch& batch, const BridgePoint& point, const Tensor& t) const {
    const double h = 1e-5;
    const auto at = [&](const Tensor& time) {
      return point_at(bridge_, batch.x0, batch.x1, point.noise, time.detach()).x;
    };
    return (8 * (at(t + h) - at(t - h)) - (at(t + 2 * h) - at(t - 2 * h))) / (12 * h);
  }

  Tensor boundary(const Batch& batch, at::Generator& generator) const {
    const auto [from, to] = bridge_.interval();
    const auto end = [&](double time) {
      const Tensor t = torch::full({batch.x0.size(0), 1}, time, torch::kFloat64).requires_grad_();
      const Tensor x =
          draw_point(bridge_, batch.x0, batch.x1, t.detach(), generator).x.requires_grad_();
      const Tensor l = lambda_at(problem_.weight, bridge_, t.detach());
      return (l.squeeze(1) * score_(x, t).time).mean();
    };
    const Tensor first = end(from);
    return first - end(to);
  }

  const MatchingProblem& problem_;
  const PlainScore& score_;
  const Bridge& bridge_;
};

TEST(ScoreMatching, LossAndGradientMatchDoubleBackward) {
  for (const MatchingProblem& problem : matching_problems()) {
    const BridgePtr bridge = testing::bridge_named(problem.bridge);
    const auto path = std::make_shared<const GaussianPath>(bridge, gaussian_ends(columns));
    const Context context = testing::double_context(7);
    ScoreOptions small;
    small.width = 10;
    small.depth = 2;
    const ScorePtr score = make_score(problem.method, small, bridge,
                                      problem.with_reference ? path : nullptr, columns, context);
    testing::randomise(score->network().parameters());
    Tensors leaves;
    for (const auto& [name, leaf] : score->network().parameters().named()) leaves.push_back(leaf);
    ObjectiveOptions options;
    options.time_weight = problem.weight;
    options.data_term = problem.data_term;
    options.matching = problem.matching;
    const auto objective = make_objective(problem.method, *score, bridge,
                                          second_moments(gaussian_ends(columns)), options);

    auto data = context.generator("data"), draws = context.generator("draws");
    auto same_draws = context.generator("draws");
    const Batch batch = testing::draw_batch(gaussian_ends(columns), 24, data);
    const Tensor t = 0.1 + 0.8 * uniform({24, 1}, context.options(), data);
    const Tensor loss = row_losses(objective->terms(batch, t, draws)).mean();
    const PlainScore plain(*score, bridge);
    const Tensor expected = PlainLoss(problem, plain, *bridge)(batch, t, same_draws);
    EXPECT_LT(difference(loss, expected), 1e-8) << problem.label();
    const Tensors by_dual = testing::gradients(loss, leaves);
    const Tensors by_double = testing::gradients(expected, leaves);
    for (size_t i = 0; i < leaves.size(); ++i)
      EXPECT_LT(difference(by_dual[i], by_double[i]), 1e-8) << problem.label() << ", leaf " << i;
  }
}

/// Where times of float32 were rounded to an end of a bridge with noise.
TEST(ScoreMatching, EndsAreFiniteAlongThePaths) {
  const Context context{torch::kCPU, torch::kFloat32, 7};
  const BridgePtr bridge = testing::bridge_named("brownian");
  auto data = context.generator("data"), draws = context.generator("draws");
  const Tensor x0 = normal({2, columns}, context.options(), data);
  const Tensor x1 = normal({2, columns}, context.options(), data);
  const Tensor ends = torch::tensor({{0.0F}, {1.0F}});
  for (const char* method : {"time", "joint"}) {
    const ScorePtr score = make_score(method, {}, bridge, nullptr, columns, context);
    testing::randomise(score->network().parameters());
    const auto objective = make_objective(method, *score, bridge, {1, 0, 1}, {});
    const Tensor losses = row_losses(objective->terms({x0, x1}, ends, draws));
    EXPECT_TRUE(losses.isfinite().all().item<bool>()) << method;
  }
}

/// The factor multiplies all terms of the time score, those at the ends included, and no others.
TEST(ScoreMatching, TheTimeTermsOfTheJointLossHaveAFactor) {
  const Context context = testing::double_context(7);
  const BridgePtr bridge = testing::bridge_named("linear");
  const ScorePtr score = make_score("joint", {}, bridge, nullptr, columns, context);
  testing::randomise(score->network().parameters());
  auto data = context.generator("data");
  const Batch batch = testing::draw_batch(gaussian_ends(columns), 24, data);
  const Tensor t = 0.1 + 0.8 * uniform({24, 1}, context.options(), data);
  for (const Matching matching : {Matching::boundary, Matching::pathwise}) {
    const auto loss = [&](double factor) {
      auto draws = context.generator("draws");
      const JointObjective objective(dynamic_cast<const JointScore&>(*score), {"noise", bridge},
                                     JointObjective::DataTerm::sliced, matching, factor);
      return row_losses(objective.terms(batch, t, draws)).mean().item<double>();
    };
    // By how much the loss changes when the layers of one of the scores do.
    const auto change = [&](const std::string& head, double factor) {
      const double before = loss(factor);
      const NamedTensors layers = under(score->network().parameters().named(), head);
      for (const auto& [name, layer] : layers) layer.detach().mul_(1.1);
      const double after = loss(factor);
      for (const auto& [name, layer] : layers) layer.detach().div_(1.1);
      return after - before;
    };
    EXPECT_GT(std::abs(change("time", 1)), 0.01);
    EXPECT_EQ(change("time", 0), 0);
    EXPECT_NEAR(change("time", 0.3) / change("time", 1), 0.3, 1e-9);
    EXPECT_GT(std::abs(change("data", 1)), 0.01);
    EXPECT_NEAR(change("data", 0) / change("data", 1), 1, 1e-9);
  }
}

}  // namespace
}  // namespace dre
