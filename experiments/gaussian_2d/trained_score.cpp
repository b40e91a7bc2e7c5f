#include "experiments/gaussian_2d/trained_score.h"

#include "benchmarks/pairs/suite.h"
#include "dre/objective/make_objective.h"
#include "dre/ratio/correction.h"
#include "experiments/training.h"

namespace dre::experiments {
namespace {

IntegrateOptions within(double tolerance) {
  IntegrateOptions options;
  options.rtol = options.atol = tolerance;
  return options;
}

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
  return {{"method", method},        {"bridge", bridge},        {"time_weight", time_weight},
          {"score", to_json(score)}, {"train", to_json(train)}, {"times", to_json(times)}};
}

TrainedScore::TrainedScore(const PaperMethod& method, const Data2d& data, const Context& context,
                           Progress& progress)
    : context_(context), rows_(data.denominator.to(context.options())) {
  bridge_ = make_bridge(method.bridge);
  const GaussianEnds ends = sample_ends(data.numerator, data.denominator);
  gaussian_ = std::make_shared<const GaussianPath>(bridge_, ends.to(context.device));
  score_ = make_score(method.method, method.score, bridge_, nullptr, 2, context);
  ObjectiveOptions options;
  options.matching = "boundary";  // as the paper has it
  options.time_weight = method.time_weight;
  const auto objective =
      make_objective(method.method, *score_, bridge_, second_moments(ends), options);
  sides_ = split_sides(data.numerator, data.denominator, 0.2, context);
  training_ = train(*objective, score_->network().parameters(), sides_, method.train, method.times,
                    context, progress);
  auto generator = context.generator("correction");
  normalisation_ = normalisation_error(*score_, *gaussian_, sides_.held_out_numerator.to(context),
                                       sides_.held_out_denominator.to(context), generator)
                       .value;
}

PathRatio TrainedScore::horizontal(const Tensor& x, double tolerance) const {
  return horizontal_ratio(*score_, *gaussian_, x.to(context_.options()), within(tolerance));
}

PathRatio TrainedScore::pathwise(const Tensor& x, double tolerance) const {
  auto generator = context_.generator("line ends");
  const Tensor row = at::randint(0, rows_.size(0), {x.size(0)}, generator, torch::kInt64);
  const Tensor z = rows_.index_select(0, row.to(context_.device));
  return line_ratio_to(*score_, *gaussian_, x.to(context_.options()), z, within(tolerance));
}

Tensor TrainedScore::end_correction(const Tensor& x) const {
  const Tensor there = x.to(context_.device);
  return (gaussian_->log_ratio(there) - gaussian_->path_log_ratio(there)).cpu();
}

}  // namespace dre::experiments
