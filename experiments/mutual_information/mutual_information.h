/// Mutual information of correlated Gaussian pairs in 40 to 320 dimensions.
#pragma once

#include <memory>

#include "experiments/experiment.h"

namespace dre::experiments {

std::unique_ptr<Experiment> make_mutual_information();

}  // namespace dre::experiments
