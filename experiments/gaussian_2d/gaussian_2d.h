/// N(4, I) over N(0, I) in the plane, learned from 10 000 rows a side: the paper's methods, the
/// library's, and the plain Gaussian plug-in.
#pragma once

#include <memory>

#include "experiments/experiment.h"

namespace dre::experiments {

/// Judged on rows of the two sides.
std::unique_ptr<Experiment> make_gaussian_2d();

/// The same models judged on rows whose numerator half comes from N(5, I).
std::unique_ptr<Experiment> make_gaussian_2d_shifted();

}  // namespace dre::experiments
