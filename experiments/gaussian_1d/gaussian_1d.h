/// One scalar to find: N(0, sigma^2) over N(0, 1) with the true form of the scores.
#pragma once

#include <memory>

#include "experiments/experiment.h"

namespace dre::experiments {

std::unique_ptr<Experiment> make_gaussian_1d();

}  // namespace dre::experiments
