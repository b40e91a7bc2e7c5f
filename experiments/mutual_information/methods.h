/// The methods of the mutual information experiment, each from rows to an estimate in nats.
#pragma once

#include "dre/train/options.h"
#include "experiments/mutual_information/gaussian_pairs.h"

namespace dre::experiments {

struct MiMethod {
  std::string kind;        ///< "parametric", "tre", "nce", "generic", "plug-in"
  bool fresh = true;       ///< new rows at every step, or a fixed table with shuffles
  int64_t rows = 100'000;  ///< of the fixed table
  int64_t shuffles = 4;
  int64_t test_rows = 200'000;
  std::string time_weight = "one";  ///< parametric
  double time_factor = 1;           ///< parametric: of the time score's part of the loss
  int64_t bridges = 2;              ///< tre
  int64_t width = 256;              ///< generic
  TrainOptions train;

  /// Only what plays a part in this kind, so that a change of the rest leaves results valid.
  Json options() const;
};

/// {"mi", "standard_error", "truth", "rmse" of log r on the test rows, ...}
Json run_mi_method(const MiMethod& method, const GaussianPairs& pairs, const Context& context,
                   Progress& progress);

}  // namespace dre::experiments
