/// The methods that are compared on the 2-D task, each from rows to log-ratios.
#pragma once

#include "experiments/gaussian_2d/trained_score.h"

namespace dre::experiments {

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
