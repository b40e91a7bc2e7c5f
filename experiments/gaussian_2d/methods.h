/// The methods that are compared on the 2-D task, each from rows to log-ratios.
#pragma once

#include "benchmarks/pairs/pair.h"
#include "dre/objective/make_objective.h"
#include "dre/score/make_score.h"
#include "dre/train/options.h"
#include "experiments/experiment.h"

namespace dre::experiments {

/// Rows to learn from, and rows to judge by: the pair's own, and those with a shifted numerator.
struct Data2d {
  Tensor numerator, denominator;  ///< [n, 2], float64
  Tensor test, test_truth;        ///< both sides pooled, and their true log r
  Tensor shifted, shifted_truth;
};

Data2d draw_2d(int64_t rows, int64_t test_rows, const Context& context);

/// A method of the paper: its architecture on its bridge, in the data's own coordinates.
struct PaperMethod {
  std::string method;  ///< of the library: nce, tre, time, joint
  ScoreOptions score;
  TrainOptions train;
  std::string bridge = "vpsde";
  std::string time_weight = "one";

  Json options() const;
};

/// MSE and histograms on both sets of test rows: by the paper's protocol, and with the ends of the
/// path and the normalisation corrected; held-out loss, evaluations.
Json run_paper_method(const PaperMethod& method, const Data2d& data, const Context& context,
                      Progress& progress);

/// A fit of the library with default options but for these.
struct LibraryMethod {
  std::string method = "auto";
  std::string reference = "gaussian";
  int64_t steps = 4000;
};

Json run_library_method(const LibraryMethod& method, const Data2d& data, const Context& context,
                        Progress& progress);

/// The ratio of two Gaussians with the samples' moments; pooled: with one covariance.
Json run_plug_in(bool pooled, const Data2d& data);

}  // namespace dre::experiments
