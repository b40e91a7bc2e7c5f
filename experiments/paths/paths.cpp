#include "experiments/paths/paths.h"

#include "benchmarks/pairs/suite.h"
#include "dre/apps/fit.h"
#include "dre/base/error.h"
#include "dre/base/numbers.h"
#include "dre/numeric/statistics.h"
#include "dre/report/chart.h"
#include "experiments/training.h"

namespace dre::experiments {
namespace {

struct Case {
  std::string pair;
  std::string reference;  ///< "gaussian" or "none"
};

std::vector<Case> cases(const Settings& settings) {
  std::vector<Case> all;
  const auto add = [&](const std::vector<std::string>& names) {
    for (const auto& pair : names)
      for (const char* reference : {"gaussian", "none"}) all.push_back({pair, reference});
  };
  if (settings.size == Size::quick)
    add({"gaussian-2d", "mixture-2"});
  else
    add({"gaussian-2d", "mixture-2", "mixture-10", "warped-mixture-2"});
  return all;
}

std::string row_name(const Case& one) {
  return text(one.pair, one.reference == "none" ? ", without reference" : ", with reference");
}

struct Sizes {
  int64_t rows, tests, steps;
};

Sizes sizes(const Settings& settings) {
  return {settings.pick<int64_t>(10'000, 4'000), settings.pick<int64_t>(4'000, 300),
          settings.pick<int64_t>(4'000, 300)};
}

/// Rows to learn from and to judge by, of one pair.
struct Drawn {
  Samples numerator, denominator;
  Tensor test, truth;
  std::vector<std::string> names;
};

Drawn draw(const std::string& name, const Sizes& sizes, const Context& given) {
  const pairs::Pair pair = pairs::pair_by_name(name);
  const Context context = Context{torch::kCPU, torch::kFloat64, given.seed}.child(name);
  auto first = context.generator("numerator"), second = context.generator("denominator"),
       third = context.generator("test");
  Drawn out{make_samples(pair.sample_numerator(sizes.rows, first)),
            make_samples(pair.sample_denominator(sizes.rows, second)),
            pair.sample_test(sizes.tests, third),
            {},
            {}};
  out.truth = pair.log_ratio(out.test);
  for (int64_t i = 0; i < pair.dimension(); ++i) out.names.push_back(text("x", i));
  return out;
}

Estimator fitted(const Drawn& data, const std::string& method, const std::string& reference,
                 const Sizes& sizes, const Context& context, Progress& progress) {
  FitOptions options;
  options.method = method;
  options.reference = reference;
  options.guard = 0;  // the paths of the model that was trained, not of the one that is kept
  options.train.steps = sizes.steps;
  options.seed = static_cast<int64_t>(context.seed);
  options.device = context.device.is_cuda() ? "cuda" : "cpu";
  FitResult result = fit(data.numerator, data.denominator, data.names, options, progress);
  if (result.interrupted) throw Interrupted{};
  for (auto& member : result.estimator.members()) member.weight = 1;
  return std::move(result.estimator);
}

Tensor spread(const std::vector<Tensor>& estimates) {
  return torch::stack(estimates).std(0, false);
}

Json run_case(const Case& one, const Sizes& sizes, const Context& context, Progress& progress) {
  const Drawn data = draw(one.pair, sizes, context);
  const Estimator velocity = fitted(data, "velocity", one.reference, sizes, context, progress);
  Json result;
  std::vector<Tensor> paths;
  for (const auto& path : path_names()) {
    RatioOptions options;
    options.path = path;
    const Estimate estimate = velocity.log_ratio(data.test, options);
    paths.push_back(estimate.log_ratio);
    result[path + "_mse"] = (estimate.log_ratio - data.truth).square().mean().item<double>();
    result[path + "_evaluations"] = estimate.evaluations;
    result[path + "_status"] = describe(estimate.status);
  }
  const Tensor other = fitted(data, "which-time", one.reference, sizes, context, progress)
                           .log_ratio(data.test)
                           .log_ratio;
  const Tensor error = (paths[0] - data.truth).abs(), disagreement = spread(paths);
  result["paths_correlation"] = rank_correlation(disagreement, error);
  result["methods_correlation"] = rank_correlation((paths[0] - other).abs(), error);
  result["control_correlation"] = rank_correlation(paths[0].abs(), error);
  result["which_time_mse"] = (other - data.truth).square().mean().item<double>();
  const int64_t shown = std::min<int64_t>(250, error.size(0));
  const Tensor every = torch::arange(shown) * (error.size(0) / shown);
  result["shown_disagreement"] = numbers_of(disagreement.index_select(0, every));
  result["shown_error"] = numbers_of(error.index_select(0, every));
  return result;
}

class Paths final : public Experiment {
 public:
  Description describe() const override {
    return {"Integration paths",
            "Section \"joint training\": log r may be read along any path from x to the "
            "denominator's mass; a path that stays where there is data should do better than the "
            "horizontal one (2-D: 0.35 pathwise, the lowest of all methods). All paths agree for "
            "exact scores, so their disagreement might serve as an error bar. The paper has no "
            "figures on that.",
            3};
  }

  std::vector<Cell> cells(const Settings& settings) const override {
    std::vector<Cell> all;
    const Sizes size = sizes(settings);
    for (const auto& one : cases(settings))
      for (int64_t seed = 0; seed < settings.seeds; ++seed)
        all.push_back({row_name(one),
                       seed,
                       {{"rows", size.rows}, {"tests", size.tests}, {"steps", size.steps}},
                       [one, size](const Context& context, Progress& progress) {
                         return run_case(one, size, context, progress);
                       }});
    return all;
  }

  Outcome summarise(const Settings& settings, const Results& results) const override {
    report::Table errors{"MSE of log r by path, one velocity model a row",
                         {"pair", "horizontal", "line", "flow", "which-time classifier",
                          "evaluations, horizontal", "line", "flow"},
                         {}};
    report::Table signals{
        "Does the disagreement tell the error? Rank correlation with |error| of the "
        "horizontal path",
        {"pair", "spread of the three paths", "|velocity − which-time|", "control: |log r| alone"},
        {}};
    errors.columns[6] = "evaluations, line";
    errors.columns[7] = "evaluations, flow";
    for (const auto& one : cases(settings)) {
      const std::string row = row_name(one);
      errors.rows.push_back(
          {row, results.mean(row, "horizontal_mse"), results.mean(row, "line_mse"),
           results.mean(row, "flow_mse"), results.mean(row, "which_time_mse"),
           results.mean(row, "horizontal_evaluations"), results.mean(row, "line_evaluations"),
           results.mean(row, "flow_evaluations")});
      signals.rows.push_back({row, results.mean(row, "paths_correlation"),
                              results.mean(row, "methods_correlation"),
                              results.mean(row, "control_correlation")});
    }
    return {{errors, signals},
            {error_chart(settings, results), scatter_chart(settings, results)},
            {"An error signal is worth having where it beats the control, which needs no second "
             "path and no second model."}};
  }

 private:
  static report::Chart error_chart(const Settings& settings, const Results& results) {
    Json data = Json::array();
    for (const auto& one : cases(settings))
      for (const auto& path : path_names()) {
        const report::Cell cell = results.mean(row_name(one), path + "_mse");
        if (cell.value)
          data.push_back({{"pair", row_name(one)}, {"path", path}, {"mse", *cell.value}});
      }
    Json pairs = report::category("pair");
    pairs["axis"] = {{"labelLimit", 260}};
    return {"Error by path", "Mean over seeds; logarithmic.",
            report::chart_spec(data,
                               {report::layer({{"type", "point"}, {"filled", true}, {"size", 90}},
                                              {{"y", pairs},
                                               {"x", report::log_quantity("mse", "MSE of log r")},
                                               {"color", report::category("path")},
                                               {"shape", report::category("path")}})},
                               480, 34 * static_cast<int64_t>(cases(settings).size()))};
  }

  static report::Chart scatter_chart(const Settings& settings, const Results& results) {
    Json data = Json::array();
    for (const auto& one : cases(settings))
      if (const Json* result = results.find(row_name(one)))
        report::append_records(
            data,
            report::with_field(
                report::records(
                    {{"disagreement", (*result)["shown_disagreement"].get<std::vector<double>>()},
                     {"error", (*result)["shown_error"].get<std::vector<double>>()}}),
                "pair", row_name(one)));
    Json spec = report::chart_spec(
        data,
        {report::layer({{"type", "point"}, {"filled", true}, {"size", 14}, {"opacity", 0.6}},
                       {{"x", report::log_quantity("disagreement", "spread of the paths")},
                        {"y", report::log_quantity("error", "|error|, horizontal")}})},
        270, 200);
    return {"Disagreement of the paths against the true error", "Some test rows of seed 0.",
            report::facets("pair", spec, 2)};
  }
};

}  // namespace

std::unique_ptr<Experiment> make_paths() { return std::make_unique<Paths>(); }

}  // namespace dre::experiments
