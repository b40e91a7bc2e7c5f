#include "experiments/gaussian_2d/methods.h"

#include "benchmarks/method.h"
#include "benchmarks/pairs/suite.h"
#include "dre/apps/fit.h"
#include "dre/base/error.h"
#include "dre/ratio/correction.h"
#include "experiments/training.h"

namespace dre::experiments {
namespace {

/// Counts in bins of 2 nats from -60 to 60, what lies outside in the last ones.
Json binned(const Tensor& log_ratio) {
  const int64_t bins = 60;
  const Tensor inside = log_ratio.to(torch::kCPU, torch::kFloat64).nan_to_num(0).clamp(-59.9, 59.9);
  return list(torch::histc(inside, bins, -60, 60));
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

/// A trained score and the ways to read log r from it.
class Trained {
 public:
  Trained(const PaperMethod& method, const Data2d& data, const Context& context, Progress& progress)
      : context_(context), rows_(data.denominator.to(context.options())) {
    BridgeOptions named;
    named.bridge = method.bridge;
    bridge_ = make_bridge(named);
    const GaussianEnds ends = sample_ends(data.numerator, data.denominator);
    gaussian_ = std::make_shared<const GaussianPath>(bridge_, on(ends, context));
    score_ = make_score(method.method, method.score, bridge_, nullptr, 2, context);
    ObjectiveOptions options;
    options.matching = "boundary";  // as the paper has it
    options.time_weight = method.time_weight;
    const auto objective =
        make_objective(method.method, *score_, bridge_, second_moments(ends), options);
    const TrainData sides = split_sides(data.numerator, data.denominator, 0.2, context);
    training_ = train(*objective, score_->network().parameters(), sides, method.train, {}, context,
                      progress);
    auto generator = context.generator("correction");
    normalisation_ = normalisation_error(*score_, *gaussian_, cast(sides.held_out_numerator),
                                         cast(sides.held_out_denominator), generator)
                         .value;
  }

  const TrainResult& training() const { return training_; }
  double normalisation() const { return normalisation_; }
  bool has_data_score() const { return ability<DataScore>(*score_) != nullptr; }
  int64_t evaluations() const { return evaluations_; }

  /// As the library gives it: the path's ends corrected.
  Tensor horizontal(const Tensor& x) {
    return keep(horizontal_ratio(*score_, *gaussian_, x.to(context_.options()), {}));
  }

  /// Along lines to rows of the denominator drawn at random, as the paper proposes.
  Tensor pathwise(const Tensor& x) {
    auto generator = context_.generator("line ends");
    const Tensor row = at::randint(0, rows_.size(0), {x.size(0)}, generator, torch::kInt64);
    const Tensor z = rows_.index_select(0, row.to(context_.device));
    return keep(line_ratio_to(*score_, *gaussian_, x.to(context_.options()), z, {}));
  }

  /// What the correction of the ends has added.
  Tensor end_correction(const Tensor& x) const {
    const Tensor there = x.to(context_.device);
    return (gaussian_->log_ratio(there) - gaussian_->path_log_ratio(there)).cpu();
  }

 private:
  static GaussianEnds on(const GaussianEnds& ends, const Context& context) {
    const auto move = [&](const Tensor& part) { return part.to(context.device); };
    return {move(ends.mean0), move(ends.variance0), move(ends.mean1), move(ends.variance1)};
  }
  Samples cast(const Samples& side) const { return {side.x.to(context_.options()), side.weight}; }
  Tensor keep(const PathRatio& ratio) {
    evaluations_ = ratio.evaluations;
    return ratio.log_ratio.cpu();
  }

  Context context_;
  Tensor rows_;
  BridgePtr bridge_;
  std::shared_ptr<const GaussianPath> gaussian_;
  ScorePtr score_;
  TrainResult training_;
  double normalisation_ = 0;
  int64_t evaluations_ = 0;
};

std::vector<std::string> names_2d() { return {"x0", "x1"}; }

}  // namespace

Data2d draw_2d(int64_t rows, int64_t test_rows, const Context& given) {
  const Context context = Context{torch::kCPU, torch::kFloat64, given.seed}.child("gaussian-2d");
  const pairs::Pair plain = pairs::pair_by_name("gaussian-2d");
  const pairs::Pair shifted = pairs::pair_by_name("gaussian-2d-shifted");
  auto first = context.generator("numerator"), second = context.generator("denominator");
  auto test = context.generator("test"), other = context.generator("shifted");
  Data2d data{plain.sample_numerator(rows, first),       plain.sample_denominator(rows, second),
              plain.sample_test(2 * test_rows, test),    {},
              shifted.sample_test(2 * test_rows, other), {}};
  data.test_truth = plain.log_ratio(data.test);
  data.shifted_truth = plain.log_ratio(data.shifted);
  return data;
}

Json PaperMethod::options() const {
  return {{"method", method},
          {"bridge", bridge},
          {"time_weight", time_weight},
          {"score", to_json(score)},
          {"train", to_json(train)}};
}

Json run_paper_method(const PaperMethod& method, const Data2d& data, const Context& context,
                      Progress& progress) {
  Trained trained(method, data, context, progress);
  const TrainResult& training = trained.training();
  Json result = {{"held_out", training.best_loss},
                 {"best_step", training.best_step},
                 {"steps", training.steps},
                 {"training", describe(training.status)},
                 {"normalisation", trained.normalisation()},
                 {"true_histogram", binned(data.test_truth)},
                 {"shifted_true_histogram", binned(data.shifted_truth)}};
  const auto add = [&](const std::string& path, const std::function<Tensor(const Tensor&)>& ratio) {
    const Both rated = rate(data, ratio);
    result[path + "evaluations"] = trained.evaluations();
    const double constant = trained.normalisation();
    judge_both(result, path + "corrected_", data,
               {rated.plain + constant, rated.shifted + constant});
    judge_both(result, path, data,
               {rated.plain - trained.end_correction(data.test),
                rated.shifted - trained.end_correction(data.shifted)});
  };
  add("", [&](const Tensor& x) { return trained.horizontal(x); });
  if (trained.has_data_score())
    add("pathwise_", [&](const Tensor& x) { return trained.pathwise(x); });
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
