/// Horizontal, line and flow: one model, three ways to read log r from it.
#pragma once

#include <memory>

#include "experiments/experiment.h"

namespace dre::experiments {

std::unique_ptr<Experiment> make_paths();

}  // namespace dre::experiments
