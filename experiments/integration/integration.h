/// What integration over time costs and how exact it is, and how the times of training are drawn.
#pragma once

#include <memory>

#include "experiments/experiment.h"

namespace dre::experiments {

std::unique_ptr<Experiment> make_integration();

}  // namespace dre::experiments
