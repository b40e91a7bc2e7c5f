/// Training of one score outside `fit`: in the data's own coordinates, with any network.
#pragma once

#include "dre/objective/objective.h"
#include "dre/score/make_score.h"
#include "dre/train/trainer.h"
#include "experiments/experiment.h"

namespace dre::experiments {

/// Trains, and throws Interrupted where a stop was asked for.
TrainResult train(const Objective& objective, Parameters& parameters, const TrainData& data,
                  const TrainOptions& options, const TimeOptions& times, const Context& context,
                  Progress& progress);

/// Rows of the two sides with a random part held out. numerator, denominator: [n, d]
TrainData split_sides(const Tensor& numerator, const Tensor& denominator, double held_out,
                      const Context& context);

/// Gaussian ends with the rows' own means and variances, coordinate by coordinate.
GaussianEnds sample_ends(const Tensor& numerator, const Tensor& denominator);

/// Batches of fresh rows at every step in place of those given: training without a finite sample.
/// What is held out is fresh too, but the same at every look.
class FreshRows final : public Objective {
 public:
  /// `draw` makes a batch of n rows a side with the precision and device of `like`.
  using Draw =
      std::function<Batch(int64_t n, const torch::TensorOptions& like, at::Generator& generator)>;

  FreshRows(const Objective& inner, Draw draw) : inner_(inner), draw_(std::move(draw)) {}
  Terms terms(const Batch& batch, const Tensor& t, at::Generator& generator) const override;
  Interval interval() const override { return inner_.interval(); }

 private:
  const Objective& inner_;
  Draw draw_;
};

}  // namespace dre::experiments
