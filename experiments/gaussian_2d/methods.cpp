#include "experiments/gaussian_2d/methods.h"

#include "benchmarks/method.h"
#include "dre/apps/fit.h"
#include "dre/base/error.h"
#include "dre/base/numbers.h"
#include "experiments/gaussian_2d/trained_score.h"
#include "experiments/training.h"

namespace dre::experiments {
namespace {

/// Counts in bins of 2 nats from -60 to 60, what lies outside in the last ones.
Json binned(const Tensor& log_ratio) {
  const int64_t bins = 60;
  const Tensor inside = log_ratio.to(torch::kCPU, torch::kFloat64).nan_to_num(0).clamp(-59.9, 59.9);
  return numbers_of(torch::histc(inside, bins, -60, 60));
}

/// What one set of test rows says of an estimate.
void judge(Json& result, const std::string& prefix, const Tensor& estimate, const Tensor& truth) {
  const Tensor error = estimate.to(torch::kCPU) - truth;
  result[prefix + "mse"] = error.square().mean().item<double>();
  result[prefix + "bias"] = error.mean().item<double>();
}

/// Estimates on the two sets of test rows.
struct Both {
  Tensor plain, shifted;
};

Both rate(const Data2d& data, const std::function<Tensor(const Tensor&)>& log_ratio) {
  return {log_ratio(data.test), log_ratio(data.shifted)};
}

void judge_both(Json& result, const std::string& prefix, const Data2d& data, const Both& rated) {
  const auto& [plain, shifted] = rated;
  judge(result, prefix, plain, data.test_truth);
  judge(result, prefix + "shifted_", shifted, data.shifted_truth);
  result[prefix + "histogram"] = binned(plain);
  result[prefix + "shifted_histogram"] = binned(shifted);
}

std::vector<std::string> names_2d() { return {"x0", "x1"}; }

}  // namespace

Json run_paper_method(const PaperMethod& method, const Data2d& data, const Context& context,
                      Progress& progress) {
  const TrainedScore trained(method, data, context, progress);
  const TrainResult& training = trained.training();
  Json result = {{"held_out", training.best_loss},
                 {"best_step", training.best_step},
                 {"steps", training.steps},
                 {"training", describe(training.status)},
                 {"normalisation", trained.normalisation()},
                 {"true_histogram", binned(data.test_truth)},
                 {"shifted_true_histogram", binned(data.shifted_truth)}};
  const auto add = [&](const std::string& path,
                       const std::function<PathRatio(const Tensor&, double)>& ratio) {
    // Errors of 0.001 nats are nothing beside these; evaluations are counted at the paper's 1e-5.
    const Both rated = rate(data, [&](const Tensor& x) { return ratio(x, 1e-3).log_ratio.cpu(); });
    const Tensor some = data.test.narrow(0, 0, std::min<int64_t>(500, data.test.size(0)));
    result[path + "evaluations"] = ratio(some, 1e-5).evaluations;
    const double constant = trained.normalisation();
    judge_both(result, path + "corrected_", data,
               {rated.plain + constant, rated.shifted + constant});
    judge_both(result, path, data,
               {rated.plain - trained.end_correction(data.test),
                rated.shifted - trained.end_correction(data.shifted)});
  };
  add("", [&](const Tensor& x, double tolerance) { return trained.horizontal(x, tolerance); });
  if (trained.has_data_score())
    add("pathwise_",
        [&](const Tensor& x, double tolerance) { return trained.pathwise(x, tolerance); });
  return result;
}

Json run_library_method(const LibraryMethod& method, const Data2d& data, const Context& context,
                        Progress& progress) {
  FitOptions options;
  options.method = method.method;
  options.reference = method.reference;
  options.train.steps = method.steps;
  options.seed = static_cast<int64_t>(context.seed);
  options.device = context.device.is_cuda() ? "cuda" : "cpu";
  const FitResult fitted = fit(make_samples(data.numerator), make_samples(data.denominator),
                               names_2d(), options, progress);
  if (fitted.interrupted) throw Interrupted{};
  Json result;
  int64_t evaluations = 0;
  const Both rated = rate(data, [&](const Tensor& x) {
    const Estimate estimate = fitted.estimator.log_ratio(x);
    evaluations = estimate.evaluations;
    return estimate.log_ratio;
  });
  judge_both(result, "", data, rated);
  result["evaluations"] = evaluations;
  result["steps"] = fitted.members.back().training.steps;
  result["kept"] = fitted.members.front().kept;
  return result;
}

Json run_plug_in(bool pooled, const Data2d& data) {
  Json result;
  const Both rated = rate(data, [&](const Tensor& x) {
    return benchmarks::gaussian_plug_in(data.numerator, data.denominator, x, pooled);
  });
  judge_both(result, "", data, rated);
  return result;
}

}  // namespace dre::experiments
