#include "dre/score/make_score.h"

#include "dre/base/names.h"
#include "dre/network/joint_mlp.h"
#include "dre/network/mlp.h"
#include "dre/score/classifiers.h"
#include "dre/score/time_scores.h"
#include "dre/score/velocity_score.h"

namespace dre {
namespace {

struct Request {
  const ScoreOptions& options;
  int64_t dimension;
  const Context& context;
};

std::shared_ptr<Network> mlp(const Request& request, bool with_time, int64_t outputs) {
  MlpOptions options;
  options.inputs = request.dimension;
  options.time = with_time;
  options.width = request.options.width;
  options.depth = request.options.depth;
  options.activation = request.options.activation;
  options.outputs = outputs;
  options.zero_last = true;  // training starts at the reference itself
  auto generator = request.context.generator("weights");
  return std::make_shared<Mlp>(options, request.context, generator);
}

std::shared_ptr<Network> joint_mlp(const Request& request) {
  JointMlpOptions options;
  options.inputs = request.dimension;
  options.width = request.options.width;
  options.activation = request.options.activation;
  options.zero_last = true;
  auto generator = request.context.generator("weights");
  return std::make_shared<JointMlp>(options, request.context, generator);
}

using NetworkMaker = std::shared_ptr<Network> (*)(const Request&);
using ScoreMaker = ScorePtr (*)(ScoreParts);

struct Recipe {
  NetworkMaker network;
  ScoreMaker score;
  bool data_score, flow;
};

template <class Concrete>
ScorePtr make(ScoreParts parts) {
  return std::make_shared<Concrete>(std::move(parts));
}

/// To add a method: a row here, one in objective/make_objective.cpp, one in
/// tests/score/score_test.cpp.
const std::vector<Named<Recipe>>& recipes() {
  static const NetworkMaker time_free = [](const Request& r) { return mlp(r, false, 1); };
  static const NetworkMaker scalar = [](const Request& r) { return mlp(r, true, 1); };
  static const NetworkMaker vector = [](const Request& r) { return mlp(r, true, r.dimension); };
  static const NetworkMaker moments = [](const Request& r) {
    return mlp(r, true, 3 * r.dimension);
  };
  static const NetworkMaker grid = [](const Request& r) {
    return mlp(r, false, r.options.classes);
  };
  static const NetworkMaker series = [](const Request& r) {
    return mlp(r, false, r.options.polynomials);
  };
  static const NetworkMaker pairs = [](const Request& r) {
    return mlp(r, false, r.options.bridges + 1);
  };
  static const std::vector<Named<Recipe>> table = {
      {"which-time", {grid, make<WhichTimeScore>, false, false}},
      {"which-time-continuous", {series, make<ContinuousWhichTimeScore>, false, false}},
      {"time", {scalar, make<ScalarScore>, false, false}},
      {"joint", {joint_mlp, make<JointScore>, true, false}},
      {"conditional", {scalar, make<ScalarScore>, false, false}},
      {"conditional-vector", {vector, make<CoordinateScore>, false, false}},
      {"velocity", {moments, make<VelocityScore>, true, true}},
      {"nce", {time_free, make<ClassifierScore>, false, false}},
      {"tre", {pairs, make<TelescopeScore>, false, false}},
      {"infinitesimal", {scalar, make<ScalarScore>, false, false}},
  };
  return table;
}

}  // namespace

void ScoreOptions::visit(OptionVisitor& v) {
  v("width", width, at_least(1), "units of each hidden layer");
  v("depth", depth, at_least(1), "hidden layers");
  v("activation", activation, activation_names(), "activation of the hidden layers");
  v("classes", classes, at_least(3), "which-time: number of times told apart");
  v("bridges", bridges, at_least(1), "tre: intermediate distributions between the two sides");
  v("polynomials", polynomials, at_least(1),
    "which-time-continuous: Chebyshev polynomials in time");
}

ScorePtr make_score(const std::string& method, const ScoreOptions& options, BridgePtr bridge,
                    ReferencePtr reference, int64_t dimension, const Context& context) {
  const Recipe& recipe = choose("method", recipes(), method);
  auto network = recipe.network({options, dimension, context});
  return recipe.score({std::move(network), std::move(bridge), std::move(reference), dimension});
}

Names method_names() { return names_of(recipes()); }

Names methods_with(AbilityKind kind) {
  Names names;
  for (const auto& row : recipes())
    if (kind == AbilityKind::flow ? row.make.flow : row.make.data_score) names.push_back(row.name);
  return names;
}

}  // namespace dre
