#include "experiments/mnist/plan.h"

#include <algorithm>

#include "dre/base/error.h"
#include "dre/base/names.h"
#include "dre/train/flow_trainer.h"

namespace dre::experiments::mnist {
namespace {

/// Training by the clock, on one H200.
constexpr double score_minutes = 12, classifier_minutes = 3;

bool is_classifier(const Method& method) {
  const std::string name = method.objective;
  return name == "nce" || name == "tre";
}

bool is_velocity(const Method& method) { return std::string(method.objective) == "velocity"; }

Rows rows_of(const Settings& settings) {
  return settings.pick<Rows>({50'000, 10'000, 10'000}, {4'000, 64, 16});
}

TrainOptions model_training(const Method& method, const Settings& settings) {
  TrainOptions train = EnergyFitOptions().train;
  // The paper's batch for time scores; a telescope deals its batch out to all its waymarks.
  const std::string name = method.objective;
  const int64_t batch = name == "time" || name == "tre" ? 500 : 256;
  train.steps = settings.pick(400'000, 20);  // full: by the clock
  train.batch = settings.pick<int64_t>(batch, is_velocity(method) ? 8 : 32);
  train.warmup = settings.pick(500, 4);
  train.rate = settings.pick(1e-3, 3e-3);
  train.average = settings.pick(0.9995, 0.5);
  train.evaluate_every = settings.pick(5'000, 10);
  return train;
}

EnergyFitOptions fit_options(const Method& method, const Settings& settings) {
  EnergyFitOptions fit;
  fit.model.objective = method.objective;
  fit.model.bridge = method.between_images ? "images" : "latent";
  fit.model.width = settings.pick(64, is_velocity(method) ? 4 : 8);
  fit.model.levels = settings.pick(3, 2);
  fit.model.blocks = settings.pick(2, 1);
  fit.model.groups = settings.pick(0, 2);
  fit.model.bridges = settings.pick(9, 4);
  fit.train = model_training(method, settings);
  const double usual = is_classifier(method) ? classifier_minutes : score_minutes;
  fit.minutes = settings.minutes > 0 ? settings.minutes : settings.pick(usual, 0.0);
  fit.looks.rows = settings.pick(is_velocity(method) ? 200 : 1'000, 4);
  fit.looks.nodes = settings.pick(16, 4);
  fit.looks.flow_steps = settings.pick(20, 2);
  fit.look_samples = 1;  // nobody looks at them
  return fit;
}

EnergyEvaluateOptions evaluate_options(const Method& method, const Settings& settings) {
  EnergyEvaluateOptions evaluate;
  evaluate.nodes = settings.pick(16, 8);
  evaluate.flow_steps = settings.pick(20, 2);
  evaluate.half = !is_velocity(method);  // rounding costs these up to 0.01 bits
  return evaluate;
}

/// Which models a run trains: all of them, or few that make use of everything.
bool has(const Settings& settings, const FitPlan& plan) {
  static const Names quick = {
      "velocity from gaussian", "velocity from copula", "velocity between images from rq-nsf",
      "time from copula",       "nce from gaussian",    "tre from rq-nsf"};
  return settings.size == Size::full || contains(quick, plan.row());
}

}  // namespace

const std::vector<Noise>& noises() {
  static const std::vector<Noise> table = {
      {"gaussian", "Gaussian", 2.01}, {"copula", "copula", 1.40}, {"rq-nsf", "RQ-NSF", 1.12}};
  return table;
}

const std::vector<Method>& methods() {
  static const std::vector<Method> table = {
      {"velocity", "velocity moments (ours)", {}},
      {"velocity", "velocity moments between images (ours)", {}, true, {"rq-nsf"}},
      {"time", "DRE-∞ (time score)", {{1.33, 1.33, 1.33}, {1.21, 1.21, 1.21}, {1.09, 1.08, 1.08}}},
      {"nce", "NCE", {{1.96, 1.99, 2.01}, {1.33, 1.48, 1.45}, {1.09, 1.10, 1.10}}},
      {"tre", "TRE", {{1.39, 1.35, 1.35}, {1.24, 1.23, 1.22}, {1.09, 1.09, 1.09}}},
  };
  return table;
}

std::string NoisePlan::row() const { return text("noise model ", noise.name); }

Json NoisePlan::options() const {
  Json json = {{"noise", noise.name}, {"images", {rows.train, rows.validation, rows.test}}};
  if (std::string(noise.name) == "gaussian")
    json["draws"] = draws;
  else
    json.update({{"flow", to_json(flow)}, {"train", to_json(train)}});
  return json;
}

std::string FitPlan::row() const {
  return text(method.objective, method.between_images ? " between images" : "", " from ",
              noise.noise.name);
}

bool Method::uses(const Noise& noise) const {
  return noises.empty() || std::any_of(noises.begin(), noises.end(), [&](const char* name) {
           return std::string(name) == noise.name;
         });
}

std::optional<PaperBits> FitPlan::paper() const {
  if (method.paper.empty()) return std::nullopt;
  for (size_t i = 0; i < noises().size(); ++i)
    if (std::string(noises()[i].name) == noise.noise.name) return method.paper[i];
  return std::nullopt;
}

Json FitPlan::training_options() const {
  Json training = to_json(fit);
  training.erase("minutes");
  // As they are by default in every cell: results of before stay valid.
  training.erase("pixel-view");
  training.erase("waymarks");
  training.erase("matching");
  training.erase("times");
  training.erase("look-anneal-steps");
  if (training["bridge"] == "latent")
    training.erase("bridge");
  else
    training["bridge"] = "images through N(0, I)";  // there was another one before
  return {{"fit", training}, {"noise", noise.options()}};
}

Json FitPlan::options() const {
  Json json = training_options();
  json["evaluate"] = to_json(evaluate);
  return json;
}

std::string AnnealPlan::row() const { return text(fit.row(), ", annealing ", anneal.steps); }

Json AnnealPlan::options() const {
  return {{"model", fit.training_options()},
          {"evaluate", to_json(evaluate)},
          {"anneal", to_json(anneal)}};
}

NoisePlan noise_plan(const Noise& noise, const Settings& settings) {
  NoisePlan plan{noise, rows_of(settings), settings.pick(4, 2), {}, {}};
  plan.flow.copula_bins = settings.pick(128, 16);
  plan.flow.steps = settings.pick(8, 1);
  plan.flow.channels = settings.pick(64, 8);
  const std::string name = noise.name;
  if (name == "gaussian") return plan;
  plan.train = flow_train_options(name);
  plan.train.steps = settings.pick(name == "rq-nsf" ? 90'000 : 40'000, 20);
  plan.train.batch = settings.pick<int64_t>(plan.train.batch, 32);
  plan.train.warmup = settings.pick<int64_t>(plan.train.warmup, 4);
  plan.train.rate = settings.pick(plan.train.rate, 2e-3);
  plan.train.average = settings.pick(plan.train.average, 0.5);
  plan.train.evaluate_every = settings.pick(1'000, 10);
  return plan;
}

std::vector<FitPlan> fit_plans(const Settings& settings) {
  std::vector<FitPlan> all;
  const auto add = [&](const Method& method, const Noise& noise) {
    const FitPlan plan{method, noise_plan(noise, settings), fit_options(method, settings),
                       evaluate_options(method, settings)};
    if (has(settings, plan)) all.push_back(plan);
  };
  for (const bool classifiers : {false, true})
    for (const Noise& noise : noises())
      for (const Method& method : methods())
        if (is_classifier(method) == classifiers && method.uses(noise)) add(method, noise);
  return all;
}

AnnealPlan anneal_plan(const FitPlan& fit, bool twice, const Settings& settings) {
  AnnealPlan plan{fit, fit.evaluate, {}};
  // Half the nodes would move log r of a sharp model by 14 nats.
  plan.evaluate.nodes = settings.pick(16, 3);
  plan.evaluate.rows = settings.pick(100, 2);
  plan.evaluate.half = true;  // of what drives the chains
  plan.anneal.chains = settings.pick(100, 2);
  plan.anneal.steps = settings.pick(250, 2) * (twice ? 2 : 1);
  plan.anneal.leapfrogs = settings.pick(5, 2);
  plan.anneal.adaptation = settings.pick(plan.anneal.adaptation, 0.5);
  plan.anneal.pilot_steps = settings.pick(20, 1);
  return plan;
}

}  // namespace dre::experiments::mnist
