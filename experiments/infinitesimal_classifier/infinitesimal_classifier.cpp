#include "experiments/infinitesimal_classifier/infinitesimal_classifier.h"

#include <cmath>

#include "dre/base/error.h"
#include "dre/bridge/gaussian_path.h"
#include "dre/report/chart.h"
#include "experiments/training.h"

namespace dre::experiments {
namespace {

const char* const sums_row = "sums over T bridges";
const char* const learned_row = "classifiers learned from samples";
constexpr double mean = 2, variance = 0.25;  // of the numerator; the denominator is N(0, 1)
constexpr double middle = 0.4;               // where classifiers are learned

GaussianPath path() {
  const Tensor one = torch::ones({1}, torch::kFloat64);
  return {make_bridge("trigonometric"), {mean * one, variance * one, 0 * one, one}};
}

Tensor at_time(const Tensor& x, double t) { return torch::full({x.size(0), 1}, t, x.options()); }

Tensor time_score(const GaussianPath& gaussian, const Tensor& x, double t) {
  return gaussian.time_score(x, at_time(x, t)).value.sum(1);
}

double root_mean_square(const Tensor& x) { return x.square().mean().sqrt().item<double>(); }

const std::vector<double>& counts() {
  static const std::vector<double> all = {1, 2, 3, 5, 10, 20, 30, 50, 100, 200, 300, 500, 1000};
  return all;
}

const std::vector<double>& steps() {
  static const std::vector<double> all = {0.3, 0.1, 0.03, 0.01, 0.003, 0.001};
  return all;
}

/// Exact classifiers between T + 1 neighbours, put together in four ways.
struct Sums {
  Tensor telescope;     ///< logits: log p_k - log p_(k+1)
  Tensor first_order;   ///< 4 (1/2 - h): Proposition 2 read backwards
  Tensor left, centre;  ///< time scores at the start or the middle of each step, times the step
};

Sums add_up(const GaussianPath& gaussian, const Tensor& x, int64_t bridges) {
  const Tensor zero = torch::zeros({x.size(0)}, x.options());
  Sums sums{zero.clone(), zero.clone(), zero.clone(), zero.clone()};
  const double step = 1 / static_cast<double>(bridges);
  for (int64_t k = 0; k < bridges; ++k) {
    const double t = static_cast<double>(k) * step;
    const Tensor logit =
        gaussian.log_density(x, at_time(x, t + step)) - gaussian.log_density(x, at_time(x, t));
    sums.telescope -= logit;
    sums.first_order -= 4 * (torch::sigmoid(logit) - 0.5);
    sums.left -= step * time_score(gaussian, x, t);
    sums.centre -= step * time_score(gaussian, x, t + step / 2);
  }
  return sums;
}

Json run_sums(int64_t rows, const Context& given) {
  const GaussianPath gaussian = path();
  auto generator = Context{torch::kCPU, torch::kFloat64, given.seed}.generator("rows");
  const Tensor z = normal({2 * rows, 1}, torch::kFloat64, generator);
  const Tensor x =
      torch::cat({mean + std::sqrt(variance) * z.narrow(0, 0, rows), z.narrow(0, rows, rows)});
  const Tensor truth = gaussian.log_ratio(x);
  std::vector<double> telescope, first_order, left, centre;
  for (const double bridges : counts()) {
    const Sums sums = add_up(gaussian, x, static_cast<int64_t>(bridges));
    telescope.push_back(root_mean_square(sums.telescope - truth));
    first_order.push_back(root_mean_square(sums.first_order - truth));
    left.push_back(root_mean_square(sums.left - truth));
    centre.push_back(root_mean_square(sums.centre - truth));
  }
  return {{"telescope", telescope},
          {"first_order", first_order},
          {"left", left},
          {"centre", centre},
          {"truth", root_mean_square(truth)}};
}

/// Relative error of logit / step as an estimate of the time score half a step on.
double relative_error(const GaussianPath& gaussian, const Tensor& logit, const Tensor& x,
                      double step) {
  const Tensor score = time_score(gaussian, x.unsqueeze(1), middle + step / 2);
  return root_mean_square(logit / step - score) / root_mean_square(score);
}

Json run_learned(int64_t rows, const Context& given) {
  const GaussianPath gaussian = path();
  const Context context{torch::kCPU, torch::kFloat64, given.seed};
  auto generator = context.generator("rows");
  const auto draw = [&](double t) {
    const Tensor x0 = mean + std::sqrt(variance) * normal({rows, 1}, torch::kFloat64, generator);
    const Tensor x1 = normal({rows, 1}, torch::kFloat64, generator);
    const auto at = [&](double time) {
      return point_at(gaussian.bridge(), x0, x1, {}, at_time(x0, time)).x.squeeze(1);
    };
    return std::pair(at(middle), at(middle + t));
  };
  std::vector<double> coupled, apart, exact;
  for (const double step : steps()) {
    const auto [before, after] = draw(step);
    const Tensor other = draw(step).second;
    const auto logit = [&](const Tensor& c) { return c[0] + before * (c[1] + before * c[2]); };
    coupled.push_back(
        relative_error(gaussian, logit(quadratic_logit(before, after)), before, step));
    apart.push_back(relative_error(gaussian, logit(quadratic_logit(before, other)), before, step));
    const Tensor column = before.unsqueeze(1);
    const Tensor truth = gaussian.log_density(column, at_time(column, middle + step)) -
                         gaussian.log_density(column, at_time(column, middle));
    exact.push_back(relative_error(gaussian, truth, before, step));
  }
  return {{"coupled", coupled}, {"apart", apart}, {"exact", exact}};
}

/// Slope of log error over log step between two entries: the order of convergence.
double order(const std::vector<double>& at, const std::vector<double>& errors, size_t i, size_t j) {
  return std::log(errors[i] / errors[j]) / std::log(at[i] / at[j]);
}

std::vector<double> field(const Json& result, const char* name) {
  return result[name].get<std::vector<double>>();
}

class InfinitesimalClassifier final : public Experiment {
 public:
  Description describe() const override {
    return {
        "Infinitesimal classification",
        "Proposition 1: the sum of log-ratios over T bridges becomes an integral of the time "
        "score as T → ∞. Propositions 2 and 3: the best classifier between p_t and p_(t+Δt) is "
        "h = 1/2 + Δt/4 · ∂ₜ log p_t + o(Δt). Shown on N(2, 1/4) over N(0, 1), where everything "
        "is known. The paper proves these and has no figures for them; the orders of "
        "convergence below follow from Taylor's formula.",
        5};
  }

  std::vector<Cell> cells(const Settings& settings) const override {
    const int64_t rows = settings.pick(200'000, 50'000);
    const int64_t points = settings.pick(1'000, 500);
    std::vector<Cell> all = {{sums_row, 0, {}, [points](const Context& context, Progress&) {
                                return run_sums(points, context);
                              }}};
    for (int64_t seed = 0; seed < settings.seeds; ++seed)
      all.push_back(
          {learned_row, seed, {{"rows", rows}}, [rows](const Context& context, Progress&) {
             return run_learned(rows, context);
           }});
    return all;
  }

  Outcome summarise(const Settings& settings, const Results& results) const override {
    Outcome out;
    if (const Json* sums = results.find(sums_row)) {
      out.tables.push_back(sums_table(*sums));
      out.charts.push_back(sums_chart(*sums));
    }
    if (results.find(learned_row)) {
      out.tables.push_back(learned_table(settings, results));
      out.charts.push_back(learned_chart(settings, results));
    }
    out.notes = {
        "Coupled: the two classes are made from the same x0 and x1, so their noise cancels. Apart: "
        "from different ones; the signal shrinks with Δt, the noise does not, and the error grows "
        "like 1/Δt."};
    return out;
  }

 private:
  struct Curve {
    const char* field;
    const char* name;
    double order;  ///< of convergence in 1/T; 0: exact
  };

  static const std::vector<Curve>& curves() {
    static const std::vector<Curve> all = {{"telescope", "sum of logits (telescopes exactly)", 0},
                                           {"first_order", "sum of 4(1/2 − h), Proposition 2", 2},
                                           {"left", "time score at the start of each step", 1},
                                           {"centre", "time score in the middle of each step", 2}};
    return all;
  }

  static report::Table sums_table(const Json& sums) {
    report::Table table{"Error of log r (root mean square, nats) by number of bridges T",
                        {"how the T classifiers are added up", "T = 1", "T = 10", "T = 100",
                         "T = 1000", "order, theory", "order, ours"},
                        {}};
    for (const auto& curve : curves()) {
      const auto errors = field(sums, curve.field);
      const bool exact = curve.order == 0;
      table.rows.push_back(
          {curve.name, errors[0], errors[4], errors[8], errors[12],
           exact ? report::Cell("exact") : report::Cell(curve.order),
           exact ? report::Cell("exact") : report::Cell(-order(counts(), errors, 8, 12))});
    }
    return table;
  }

  static report::Chart sums_chart(const Json& sums) {
    Json data = Json::array();
    for (const auto& curve : curves())
      if (curve.order > 0)
        report::append_records(
            data, report::with_field(
                      report::records({{"T", counts()}, {"error", field(sums, curve.field)}}),
                      "sum", curve.name));
    return {"The sum over T bridges against the integral",
            "Root mean square error of log r over rows of both sides; exact classifiers.",
            report::chart_spec(data,
                               {report::layer({{"type", "line"}, {"point", true}},
                                              {{"x", report::log_quantity("T", "bridges T")},
                                               {"y", report::log_quantity("error", "error, nats")},
                                               {"color", report::category("sum")}})})};
  }

  static report::Cell over_seeds(const Settings& settings, const Results& results, const char* name,
                                 size_t i) {
    std::vector<double> values;
    for (int64_t seed = 0; seed < settings.seeds; ++seed)
      if (const Json* result = results.find(learned_row, seed))
        values.push_back(field(*result, name)[i]);
    return mean_cell(values);
  }

  static report::Table learned_table(const Settings& settings, const Results& results) {
    report::Table table{
        "Relative error of logit / Δt as the time score at t + Δt/2, t = 0.4",
        {"Δt", "exact classifier", "learned, coupled samples", "learned, samples apart"},
        {}};
    for (size_t i = 0; i < steps().size(); ++i)
      table.rows.push_back({steps()[i], over_seeds(settings, results, "exact", i),
                            over_seeds(settings, results, "coupled", i),
                            over_seeds(settings, results, "apart", i)});
    return table;
  }

  static report::Chart learned_chart(const Settings& settings, const Results& results) {
    Json data = Json::array();
    for (const auto& [name, label] :
         {std::pair("exact", "exact classifier"), std::pair("coupled", "learned, coupled samples"),
          std::pair("apart", "learned, samples apart")})
      for (size_t i = 0; i < steps().size(); ++i)
        data.push_back({{"step", steps()[i]},
                        {"error", over_seeds(settings, results, name, i).value.value_or(NAN)},
                        {"classifier", label}});
    return {"The classifier's logit over Δt against the time score",
            "Relative root mean square error over rows of p_t, mean over seeds.",
            report::chart_spec(
                data, {report::layer({{"type", "line"}, {"point", true}},
                                     {{"x", report::log_quantity("step", "Δt")},
                                      {"y", report::log_quantity("error", "relative error")},
                                      {"color", report::category("classifier")}})})};
  }
};

}  // namespace

Tensor quadratic_logit(const Tensor& before, const Tensor& after) {
  const torch::NoGradGuard no_grad;
  check(before.dim() == 1 && before.sizes() == after.sizes(), "rows must be [n] each, got ",
        before.sizes(), " and ", after.sizes());
  const Tensor x = torch::cat({before, after});
  const Tensor features = torch::stack({torch::ones_like(x), x, x.square()}, 1);
  const Tensor label = torch::cat({torch::zeros_like(before), torch::ones_like(after)});
  Tensor coefficients = torch::zeros({3}, x.options());
  for (int i = 0; i < 12; ++i) {
    const Tensor h = torch::sigmoid(features.mv(coefficients));
    const Tensor gradient = features.t().mv(label - h);
    const Tensor curvature = features.t().mm(features * (h * (1 - h)).unsqueeze(1));
    coefficients = coefficients + at::linalg_solve(curvature, gradient);
  }
  return coefficients;
}

std::unique_ptr<Experiment> make_infinitesimal_classifier() {
  return std::make_unique<InfinitesimalClassifier>();
}

}  // namespace dre::experiments
