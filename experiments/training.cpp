#include "experiments/training.h"

#include "dre/data/split.h"

namespace dre::experiments {

TrainResult train(const Objective& objective, Parameters& parameters, const TrainData& data,
                  const TrainOptions& options, const TimeOptions& times, const Context& context,
                  Progress& progress) {
  const auto sampler = make_time_sampler(times);
  Trainer trainer(objective, parameters, *sampler, data, options, context);
  TrainResult result = trainer.run(progress);
  if (result.status == TrainResult::Status::interrupted) throw Interrupted{};
  return result;
}

TrainData split_sides(const Tensor& numerator, const Tensor& denominator, double held_out,
                      const Context& context) {
  auto first = context.generator("split numerator"),
       second = context.generator("split denominator");
  const Split split0 = split(make_samples(numerator, {}, "numerator"), held_out, first);
  const Split split1 = split(make_samples(denominator, {}, "denominator"), held_out, second);
  return {split0.train, split1.train, split0.held_out, split1.held_out};
}

GaussianEnds sample_ends(const Tensor& numerator, const Tensor& denominator) {
  const auto mean = [](const Tensor& x) { return x.to(torch::kFloat64).mean(0); };
  const auto variance = [](const Tensor& x) { return x.to(torch::kFloat64).var(0); };
  return {mean(numerator), variance(numerator), mean(denominator), variance(denominator)};
}

Terms FreshRows::terms(const Batch& batch, const Tensor& t, at::Generator& generator) const {
  return inner_.terms(draw_(batch.x0.size(0), batch.x0.options(), generator), t, generator);
}

}  // namespace dre::experiments
