#include "experiments/integration/integration.h"

#include <cmath>

#include "dre/base/error.h"
#include "dre/network/parametric_gaussian.h"
#include "dre/numeric/statistics.h"
#include "dre/objective/make_objective.h"
#include "dre/objective/score_matching.h"
#include "dre/report/chart.h"
#include "dre/score/time_scores.h"
#include "experiments/gaussian_2d/trained_score.h"
#include "experiments/mutual_information/gaussian_pairs.h"
#include "experiments/training.h"

namespace dre::experiments {
namespace {

const char* const plane_row = "2-D time score (the paper's network)";
const char* const mi_row = "mutual information (parametric)";

/// How an integral is computed, and how it is called.
struct Rule {
  std::string name;
  IntegrateOptions options;
};

std::vector<Rule> rules() {
  std::vector<Rule> all;
  for (const char* method : {"kronrod", "kronrod15", "kronrod31", "rk45"})
    for (const double tolerance : {1e-2, 1e-3, 1e-4, 1e-5, 1e-6}) {
      IntegrateOptions options;
      options.method = method;
      options.rtol = options.atol = tolerance;
      all.push_back({text(method, ", ", tolerance), options});
    }
  for (const int64_t nodes : {5, 9, 16, 32, 64}) {
    IntegrateOptions options;
    options.method = "legendre";
    options.nodes = nodes;
    all.push_back({text("legendre, ", nodes, " nodes"), options});
  }
  return all;
}

/// Cost and error of every rule on the time integrals of some rows. x: [n, d]
Json measure_rules(const TimeScore& score, const Tensor& x) {
  const torch::NoGradGuard no_grad;
  const RowIntegrand integrand = [&](const Tensor& rows, const Tensor& t) {
    return score.time_score(x.index_select(0, rows), t.unsqueeze(1)).value;
  };
  const Interval range = score.bridge().interval();
  const auto run = [&](const IntegrateOptions& options) {
    return integrate(integrand, x.size(0), range.to, range.from, options, x.options());
  };
  IntegrateOptions exact;
  exact.method = "legendre";
  exact.nodes = 500;
  const Tensor truth = run(exact).value;
  Json out = Json::object();
  for (const auto& rule : rules()) {
    const Integral found = run(rule.options);
    const Tensor error = (found.value - truth).abs();
    out[rule.name] = {
        {"evaluations", found.row_evaluations.to(torch::kFloat64).mean().item<double>()},
        {"most", found.evaluations},
        {"error", error.square().mean().sqrt().item<double>()},
        {"largest", error.max().item<double>()},
        {"method", rule.options.method}};
  }
  return out;
}

PaperMethod time_method(const Settings& settings, const std::string& times) {
  PaperMethod method;
  method.method = "time";
  method.score.width = settings.pick(256, 128);
  method.score.activation = "elu";
  method.train.batch = 256;
  method.train.steps = settings.pick(10'000, 300);
  method.train.patience = 0;
  method.train.average = 0.999;
  method.train.evaluate_every = settings.pick(200, 100);
  method.times.times = times;
  return method;
}

Data2d draw(const Settings& settings, const Context& context) {
  return draw_2d(settings.pick(10'000, 5'000), settings.pick(1'000, 200), context);
}

/// The spread of the objective's value over batches at one set of weights, by sampler of times; and
/// of the part of it that hangs on the times, without the terms at the ends.
Json objective_spread(const TrainedScore& trained, const Context& context, int64_t batches) {
  const torch::NoGradGuard no_grad;
  const int64_t n = 256;
  ObjectiveOptions by_parts;
  by_parts.matching = "boundary";
  const auto objective = make_objective("time", trained.score(), trained.bridge(),
                                        second_moments(trained.gaussian().ends()), by_parts);
  Json out = Json::object();
  for (const char* name : {"uniform", "stratified", "history"}) {
    TimeOptions options;
    options.times = name;
    const auto sampler = make_time_sampler(options);
    auto generator = context.generator("spread"), noise = context.device_generator("noise");
    Batches numerator(trained.sides().numerator, n, context.generator("first")),
        denominator(trained.sides().denominator, n, context.generator("second"));
    Tensor losses = torch::empty({batches}, torch::kFloat64), parts = torch::empty_like(losses);
    const int64_t warm_up = 50;  // batches from which the history learns
    for (int64_t i = -warm_up; i < batches; ++i) {
      const Batch batch{numerator.next().to(context.options()),
                        denominator.next().to(context.options())};
      const Times times = sampler->draw(n, batch.x0.options(), generator);
      const auto [from, to] = objective->interval();
      const Terms terms = objective->terms(batch, from + (to - from) * times.t, noise);
      sampler->observe(times, terms.at_time);
      if (i < 0) continue;
      const Tensor part = times.weight * terms.at_time;
      parts[i] = part.mean().item<double>();
      losses[i] = (part + times.boundary_weight * terms.free).mean().item<double>();
    }
    out[name] = {{"mean", losses.mean().item<double>()},
                 {"deviation", losses.std().item<double>()},
                 {"deviation_of_part", parts.std().item<double>()}};
  }
  return out;
}

Json run_plane(const Settings& settings, const Context& context, Progress& progress) {
  const Data2d data = draw(settings, context);
  const TrainedScore trained(time_method(settings, "stratified"), data, context, progress);
  const auto& score = dynamic_cast<const TimeScore&>(trained.score());
  return {{"rules", measure_rules(score, data.test.to(context.options()))},
          {"spread", objective_spread(trained, context, settings.pick(400, 100))}};
}

Json run_mi(const Settings& settings, const Context& context, Progress& progress) {
  const int64_t d = settings.pick(40, 10);
  const GaussianPairs pairs(d, std::sqrt(1 - std::exp(-1.0)));
  const BridgePtr bridge = make_bridge("arithmetic");
  const auto network = std::make_shared<ParametricGaussian>(ParametricGaussianOptions{d}, context);
  const JointScore score({network, bridge, nullptr, d});
  const JointObjective objective(score, TimeWeight("noise", bridge),
                                 JointObjective::DataTerm::sliced, Matching::boundary);
  TrainOptions options;
  options.rate = 5e-3;
  options.steps = settings.pick(4'000, 400);
  options.patience = 0;
  const TrainData data = paired_sides(pairs, settings.pick(50'000, 10'000), 2, context);
  train(objective, network->parameters(), data, options, {}, context, progress);
  auto generator = context.generator("test");
  const Tensor x = pairs.joint(settings.pick(1'000, 200), torch::kFloat32, generator);
  return {{"rules", measure_rules(score, x.to(context.options()))}};
}

/// Training with one way to draw times: what it does to log r.
Json run_sampler(const std::string& times, const Settings& settings, const Context& context,
                 Progress& progress) {
  const Data2d data = draw(settings, context);
  const TrainedScore trained(time_method(settings, times), data, context, progress);
  const Tensor error = trained.horizontal(data.test, 1e-4).log_ratio.cpu() - data.test_truth;
  return {{"mse", error.square().mean().item<double>()},
          {"bias", error.mean().item<double>()},
          {"drift", -trained.normalisation()},
          {"mse_normalised", (error + trained.normalisation()).square().mean().item<double>()}};
}

/// The 2-D task with its exact time score.
struct ExactTask {
  BridgePtr bridge;
  ReferencePtr path;
  ScorePtr score;  // the reference alone: a new network says 0
  std::unique_ptr<Objective> objective;

  explicit ExactTask(const Context& context) {
    bridge = make_bridge("vpsde");
    const Tensor zero = torch::zeros({2}, torch::kFloat64), one = torch::ones_like(zero);
    path = std::make_shared<const GaussianPath>(bridge, GaussianEnds{4 * one, one, zero, one});
    score = make_score("time", {}, bridge, path, 2, context);
    ObjectiveOptions by_parts;
    by_parts.matching = "boundary";
    objective = make_objective("time", *score, bridge, second_moments(path->ends()), by_parts);
  }

  static Batch draw(int64_t n, at::Generator& generator) {
    const Tensor numerator = normal({n, 2}, torch::kFloat64, generator) + 4;
    return {numerator, normal({n, 2}, torch::kFloat64, generator)};
  }
};

/// The paper's loss of the exact score plus h = sum_k c_k u^k, u the share of the interval of
/// times: c' A c + 2 b' c. Boundary terms are weighted as in training.
struct PolynomialLoss {
  Tensor k = torch::arange(5, torch::kFloat64);
  Tensor a = torch::zeros({5, 5}, torch::kFloat64), b = torch::zeros({5}, torch::kFloat64);

  /// s: the exact score at points of the bridge, [n, 1]; length: of the interval
  void add(const Times& times, const Tensor& s, double length) {
    const Tensor u = times.t, weight = times.weight.unsqueeze(1);
    const Tensor powers = u.pow(k), slopes = k * u.pow((k - 1).clamp_min(0)) / length;
    a += (weight * powers).t().matmul(powers) / u.size(0);
    // h is c_0 at the start and the sum of all c_k at the end.
    b += (weight * (slopes + s * powers)).mean(0) +
         times.boundary_weight.mean() / length * ((k == 0).to(torch::kFloat64) - 1);
  }

  /// The integral over u of the best h.
  double drift() const { return (-torch::linalg_solve(a, b) / (k + 1)).sum().item<double>(); }
};

Json bias_options(const std::string& times, const Settings& settings) {
  return {{"times", times}, {"rows", 256}, {"batches", settings.pick(4'000, 400)}};
}

/// Where the minimiser is known: the best h of the loss is 0, and what a weighting makes of it is
/// its bias. The curve of losses is that of the exact score itself.
Json run_bias(const Json& how, const Context& given) {
  const torch::NoGradGuard no_grad;
  const Context context{torch::kCPU, torch::kFloat64, given.seed};
  const ExactTask task(context);
  const int64_t n = how["rows"], batches = how["batches"];
  TimeOptions options;
  options.times = how["times"];
  const auto sampler = make_time_sampler(options);
  auto drawn_times = context.generator("times"), drawn_rows = context.generator("rows");
  const Interval range = task.objective->interval();
  PolynomialLoss loss;
  for (int64_t i = 0; i < batches; ++i) {
    const Batch batch = ExactTask::draw(n, drawn_rows);
    const Times times = sampler->draw(n, torch::kFloat64, drawn_times);
    const Tensor t = range.from + range.length() * times.t;
    const Tensor x = point_at(*task.bridge, batch.x0, batch.x1, {}, t).x;
    loss.add(times, task.path->time_score(x, t).value.sum(1, true), range.length());
    sampler->observe(times, task.objective->terms(batch, t, drawn_rows).at_time);
  }
  return {{"drift", range.length() * loss.drift()}};
}

struct Sampler {
  const char* row;
  const char* name;

  std::string bias_row() const { return text(row, ", exact but for a function of time"); }
};

const std::vector<Sampler>& samplers() {
  static const std::vector<Sampler> all = {
      {"uniform times", "uniform"},
      {"stratified times", "stratified"},
      {"importance sampling by loss history (ours)", "history"},
      {"multiplied by loss history (as published)", "history-multiplicative"}};
  return all;
}

class Integration final : public Experiment {
 public:
  Description describe() const override {
    return {"Integration over time, and how times are drawn",
            "The paper integrates with RK45 at a tolerance of 1e-5, all rows as one system: 118 to "
            "267 evaluations on MNIST. Its appendix draws the times of training by a history of "
            "losses, which its code multiplies into the loss; that is not importance sampling, and "
            "the minimiser moves.",
            3};
  }

  std::vector<Cell> cells(const Settings& settings) const override {
    std::vector<Cell> all = {
        {plane_row, 0, time_method(settings, "stratified").options(),
         [settings](const Context& c, Progress& p) { return run_plane(settings, c, p); }},
        {mi_row, 0, {}, [settings](const Context& c, Progress& p) {
           return run_mi(settings, c, p);
         }}};
    for (const auto& sampler : samplers())
      for (int64_t seed = 0; seed < settings.seeds; ++seed)
        all.push_back({sampler.row, seed, time_method(settings, sampler.name).options(),
                       [settings, sampler](const Context& c, Progress& p) {
                         return run_sampler(sampler.name, settings, c, p);
                       }});
    for (const auto& sampler : samplers())
      for (int64_t seed = 0; seed < settings.seeds; ++seed)
        all.push_back({sampler.bias_row(), seed, bias_options(sampler.name, settings),
                       [how = bias_options(sampler.name, settings)](const Context& c, Progress&) {
                         return run_bias(how, c);
                       }});
    return all;
  }

  Outcome summarise(const Settings&, const Results& results) const override {
    Outcome out;
    for (const char* row : {plane_row, mi_row})
      if (const Json* result = results.find(row)) {
        out.tables.push_back(rules_table(row, (*result)["rules"]));
        out.charts.push_back(rules_chart(row, (*result)["rules"]));
      }
    if (const Json* result = results.find(plane_row))
      out.tables.push_back(spread_table((*result)["spread"]));
    out.tables.push_back(sampler_table(results));
    out.notes = {
        "The paper's NFE are of MNIST models; ours here are of the 2-D and mutual information "
        "models, at the same tolerance. kronrod: nested 3, 7, 15, 31 points, adaptive for each "
        "row. Errors are against 500 Gauss–Legendre nodes; a network in single precision leaves "
        "about 1e-6 of the integral's size.",
        "drift: the integral of E[s] over time on held-out rows, which is 0 for a true time score. "
        "Errors of a network in training hide what a weighting does to it. The last column shows "
        "that alone: a score that is exact but for a polynomial of time, at the minimum of the "
        "loss over its coefficients, which is at zero for the loss without weights."};
    return out;
  }

 private:
  static report::Table rules_table(const char* row, const Json& rules_found) {
    report::Table table{text("Integration of log r: ", row),
                        {"integrator, tolerance", "paper's NFE", "evaluations a row", "at most",
                         "error (rms, nats)", "largest error"},
                        {}};
    for (const auto& rule : rules()) {
      const Json& found = rules_found[rule.name];
      const bool protocol = rule.name == "rk45, 1e-05";
      table.rows.push_back({rule.name, protocol ? report::Cell("118 to 267") : report::Cell(),
                            number_in(found, "evaluations"), number_in(found, "most"),
                            number_in(found, "error"), number_in(found, "largest")});
    }
    return table;
  }

  static report::Chart rules_chart(const char* row, const Json& rules_found) {
    Json data = Json::array();
    for (const auto& rule : rules()) {
      const Json& found = rules_found[rule.name];
      // A logarithmic axis has no place for zero.
      data.push_back({{"evaluations", found["evaluations"]},
                      {"error", std::max(1e-9, number_in(found, "error"))},
                      {"integrator", rule.options.method},
                      {"rule", rule.name}});
    }
    return {
        text("Error against evaluations: ", row),
        "Each point a tolerance from 1e-2 to 1e-6, or a number of nodes; lower left is better.",
        report::chart_spec(
            data, {report::layer({{"type", "line"}, {"point", true}},
                                 {{"x", report::log_quantity("evaluations", "evaluations a row")},
                                  {"y", report::log_quantity("error", "error, nats (rms)")},
                                  {"color", report::category("integrator")}})})};
  }

  static report::Table spread_table(const Json& spread) {
    report::Table table{"The objective's value over batches of 256, at the trained weights",
                        {"times", "mean", "standard deviation of a batch", "variance / uniform's",
                         "variance / uniform's, without the terms at the ends"},
                        {}};
    const auto variance = [&](const char* name, const char* deviation) {
      const double ratio =
          number_in(spread[name], deviation) / number_in(spread["uniform"], deviation);
      return ratio * ratio;
    };
    for (const char* name : {"uniform", "stratified", "history"})
      table.rows.push_back({name, number_in(spread[name], "mean"),
                            number_in(spread[name], "deviation"), variance(name, "deviation"),
                            variance(name, "deviation_of_part")});
    table.footnote =
        "One model and one seed. The terms at the ends are the same however times are drawn.";
    return table;
  }

  static report::Table sampler_table(const Results& results) {
    report::Table table{"Training of the 2-D time score by how its times are drawn",
                        {"times", "MSE of log r", "mean error", "drift", "MSE, drift removed",
                         "drift, exact but for a function of time"},
                        {}};
    for (const auto& sampler : samplers())
      table.rows.push_back({sampler.row, results.mean(sampler.row, "mse"),
                            results.mean(sampler.row, "bias"), results.mean(sampler.row, "drift"),
                            results.mean(sampler.row, "mse_normalised"),
                            results.mean(sampler.bias_row(), "drift")});
    return table;
  }
};

}  // namespace

std::unique_ptr<Experiment> make_integration() { return std::make_unique<Integration>(); }

}  // namespace dre::experiments
