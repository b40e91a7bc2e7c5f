/// The paper's table of energy-based models of MNIST: methods, noise models, three estimators.
#pragma once

#include <memory>

#include "experiments/experiment.h"

namespace dre::experiments {

std::unique_ptr<Experiment> make_mnist();

}  // namespace dre::experiments
