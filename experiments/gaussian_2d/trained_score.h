/// A score of the paper trained on the 2-D task in the data's own coordinates, and the ways to read
/// log r from it.
#pragma once

#include "dre/ratio/path.h"
#include "dre/score/make_score.h"
#include "dre/times/sampler.h"
#include "dre/train/trainer.h"
#include "experiments/experiment.h"

namespace dre::experiments {

/// Rows to learn from, and rows to judge by: the pair's own, and those with a shifted numerator.
struct Data2d {
  Tensor numerator, denominator;  ///< [n, 2], float64
  Tensor test, test_truth;        ///< both sides pooled, and their true log r
  Tensor shifted, shifted_truth;
};

Data2d draw_2d(int64_t rows, int64_t test_rows, const Context& context);

/// A method of the paper: its architecture on its bridge.
struct PaperMethod {
  std::string method;  ///< of the library: nce, tre, time, joint
  ScoreOptions score;
  TrainOptions train;
  TimeOptions times;
  std::string bridge = "vpsde";
  std::string time_weight = "one";

  Json options() const;
};

class TrainedScore final {
 public:
  TrainedScore(const PaperMethod& method, const Data2d& data, const Context& context,
               Progress& progress);

  const Score& score() const { return *score_; }
  const GaussianPath& gaussian() const { return *gaussian_; }
  const BridgePtr& bridge() const { return bridge_; }
  const TrainData& sides() const { return sides_; }
  const TrainResult& training() const { return training_; }
  double normalisation() const { return normalisation_; }  ///< the number that would correct it
  bool has_data_score() const { return ability<DataScore>(*score_) != nullptr; }

  /// As the library gives it: the path's ends corrected. x: [n, 2]
  PathRatio horizontal(const Tensor& x, double tolerance) const;

  /// Along lines to rows of the denominator drawn at random, as the paper proposes.
  PathRatio pathwise(const Tensor& x, double tolerance) const;

  /// What the correction of the ends has added.
  Tensor end_correction(const Tensor& x) const;

 private:
  Context context_;
  Tensor rows_;
  BridgePtr bridge_;
  std::shared_ptr<const GaussianPath> gaussian_;
  ScorePtr score_;
  TrainData sides_;
  TrainResult training_;
  double normalisation_ = 0;
};

}  // namespace dre::experiments
