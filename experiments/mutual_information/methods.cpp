#include "experiments/mutual_information/methods.h"

#include <chrono>
#include <cmath>

#include "benchmarks/method.h"
#include "dre/base/error.h"
#include "dre/base/names.h"
#include "dre/network/gated_mlp.h"
#include "dre/network/parametric_gaussian.h"
#include "dre/network/quadratic.h"
#include "dre/numeric/statistics.h"
#include "dre/objective/classification.h"
#include "dre/objective/conditional.h"
#include "dre/objective/score_matching.h"
#include "dre/objective/velocity.h"
#include "dre/ratio/correction.h"
#include "dre/score/classifiers.h"
#include "dre/score/time_scores.h"
#include "dre/score/velocity_score.h"
#include "experiments/training.h"

namespace dre::experiments {
namespace {

/// A score with the objective that trains it.
struct Trainable {
  BridgePtr bridge;
  std::shared_ptr<const GaussianPath> gaussian;
  ScorePtr score;
  std::unique_ptr<Objective> objective;
};

/// Both sides have means 0 and variances 1 in every column; their Gaussian path coordinate by
/// coordinate says nothing of the correlations.
std::shared_ptr<const GaussianPath> standard_path(const BridgePtr& bridge, int64_t d,
                                                  const Context& context) {
  const Tensor zero = torch::zeros({d}, torch::dtype(torch::kFloat64).device(context.device));
  const Tensor one = torch::ones_like(zero);
  return std::make_shared<const GaussianPath>(bridge, GaussianEnds{zero, one, zero, one});
}

Trainable make_parametric(const MiMethod& method, int64_t d, const Context& context) {
  Trainable out;
  out.bridge = make_bridge("arithmetic");
  out.gaussian = standard_path(out.bridge, d, context);
  auto network = std::make_shared<ParametricGaussian>(ParametricGaussianOptions{d}, context);
  auto score = std::make_shared<JointScore>(ScoreParts{network, out.bridge, nullptr, d});
  out.objective = std::make_unique<JointObjective>(
      *score, TimeWeight(method.time_weight, out.bridge), JointObjective::DataTerm::sliced,
      Matching::boundary, method.time_factor);
  out.score = score;
  return out;
}

Trainable make_telescope(const MiMethod& method, int64_t d, const Context& context) {
  Trainable out;
  out.bridge = make_bridge("arithmetic");
  out.gaussian = standard_path(out.bridge, d, context);
  auto network = std::make_shared<Quadratic>(QuadraticOptions{d, method.bridges + 1}, context);
  auto score = std::make_shared<TelescopeScore>(ScoreParts{network, out.bridge, nullptr, d});
  out.objective = std::make_unique<TelescopeObjective>(*score);
  out.score = score;
  return out;
}

Trainable make_classifier(const MiMethod&, int64_t d, const Context& context) {
  Trainable out;
  out.bridge = make_bridge("linear");
  out.gaussian = standard_path(out.bridge, d, context);
  auto network = std::make_shared<Quadratic>(QuadraticOptions{d, 1}, context);
  auto score = std::make_shared<ClassifierScore>(ScoreParts{network, out.bridge, nullptr, d});
  out.objective = std::make_unique<NceObjective>(*score);
  out.score = score;
  return out;
}

/// Velocity moments by a network that knows of no Gaussian and of no pairs.
Trainable make_generic(const MiMethod& method, int64_t d, const Context& context) {
  Trainable out;
  out.bridge = make_bridge("brownian");
  out.gaussian = standard_path(out.bridge, d, context);
  GatedMlpOptions options;
  options.inputs = d;
  options.outputs = 3 * d;
  options.width = method.width;
  auto generator = context.generator("weights");
  auto network = std::make_shared<GatedMlp>(options, context, generator);
  auto score = std::make_shared<VelocityScore>(ScoreParts{network, out.bridge, nullptr, d});
  out.objective = std::make_unique<VelocityObjective>(*score, second_moments(out.gaussian->ends()));
  out.score = score;
  return out;
}

using Maker = Trainable (*)(const MiMethod&, int64_t d, const Context&);

const std::vector<Named<Maker>>& makers() {
  static const std::vector<Named<Maker>> table = {{"parametric", make_parametric},
                                                  {"tre", make_telescope},
                                                  {"nce", make_classifier},
                                                  {"generic", make_generic}};
  return table;
}

/// The mean of log r over fresh joint rows, a piece at a time.
void judge(Json& result, const GaussianPairs& pairs, int64_t rows, const Context& context,
           const std::function<Tensor(const Tensor&)>& log_ratio) {
  auto generator = context.generator("test rows");
  std::vector<Tensor> found, truth;
  for (int64_t done = 0; done < rows; done += 10'000) {
    const Tensor x =
        pairs.joint(std::min<int64_t>(10'000, rows - done), torch::kFloat32, generator);
    found.push_back(log_ratio(x).cpu());
    truth.push_back(pairs.log_ratio(x));
  }
  const Tensor all = torch::cat(found), exact = torch::cat(truth);
  result["mi"] = all.mean().item<double>();
  result["standard_error"] = standard_error(all);
  result["rmse"] = (all - exact).square().mean().sqrt().item<double>();
  result["truth"] = pairs.mutual_information();
  result["relative"] = result["mi"].get<double>() / pairs.mutual_information() - 1;
}

Json run_plug_in(const MiMethod& method, const GaussianPairs& pairs, const Context& given) {
  const Context context{torch::kCPU, torch::kFloat64, given.seed};
  const TrainData data = paired_sides(pairs, method.rows, 1, context);
  const Tensor joint = torch::cat({data.numerator.x, data.held_out_numerator.x});
  const Tensor product = torch::cat({data.denominator.x, data.held_out_denominator.x});
  Json result;
  judge(result, pairs, method.test_rows, context, [&](const Tensor& x) {
    return benchmarks::gaussian_plug_in(joint, product, x.to(torch::kFloat64), false);
  });
  return result;
}

/// Trains on the table, or on fresh rows with a small table in the place of the real one.
TrainResult train_on(const Objective& objective, Parameters& parameters, const MiMethod& method,
                     const GaussianPairs& pairs, const TrainData& data, const Context& context,
                     Progress& progress) {
  if (!method.fresh) return train(objective, parameters, data, method.train, {}, context, progress);
  const FreshRows fresh(objective,
                        [&](int64_t n, const torch::TensorOptions& like, at::Generator& generator) {
                          return pairs.batch(n, like, generator);
                        });
  return train(fresh, parameters, data, method.train, {}, context, progress);
}

/// What held-out rows say of the normalisation; nothing where the model is normalised by its form.
double normalisation(const Trainable& model, const MiMethod& method, const TrainData& data,
                     const Context& context) {
  if (method.kind != "generic") return 0;
  auto generator = context.generator("correction");
  return normalisation_error(*model.score, *model.gaussian, data.held_out_numerator.to(context),
                             data.held_out_denominator.to(context), generator)
      .shrunk();
}

}  // namespace

Json MiMethod::options() const {
  Json json = {{"kind", kind}, {"fresh", fresh}, {"rows", rows}, {"tests", test_rows}};
  if (kind == "plug-in") return json;
  json["train"] = to_json(train);
  if (!fresh) json["shuffles"] = shuffles;
  if (kind == "parametric") json["time_weight"] = time_weight;
  if (kind == "parametric" && time_factor != 1) json["time_factor"] = time_factor;
  if (kind == "tre") json["bridges"] = bridges;
  if (kind == "generic") json["width"] = width;
  return json;
}

Json run_mi_method(const MiMethod& method, const GaussianPairs& pairs, const Context& context,
                   Progress& progress) {
  if (method.kind == "plug-in") return run_plug_in(method, pairs, context);
  Trainable model = choose("method", makers(), method.kind)(method, pairs.dimension(), context);
  const int64_t rows = method.fresh ? std::min<int64_t>(method.rows, 40'000) : method.rows;
  const TrainData data = paired_sides(pairs, rows, method.fresh ? 1 : method.shuffles, context);
  const auto begin = std::chrono::steady_clock::now();
  const TrainResult training = train_on(*model.objective, model.score->network().parameters(),
                                        method, pairs, data, context, progress);
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
  const double constant = normalisation(model, method, data, context);
  Json result = {{"best_step", training.best_step},     {"steps", training.steps},
                 {"held_out", training.best_loss},      {"training", describe(training.status)},
                 {"training_seconds", elapsed.count()}, {"normalisation", constant}};
  int64_t evaluations = 0;
  judge(result, pairs, method.test_rows, context, [&](const Tensor& x) {
    const PathRatio ratio =
        horizontal_ratio(*model.score, *model.gaussian, x.to(context.options()), {});
    evaluations = std::max(evaluations, ratio.evaluations);
    return ratio.log_ratio + constant;
  });
  result["evaluations"] = evaluations;
  return result;
}

}  // namespace dre::experiments
