/// The experiments by name.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "dre/base/names.h"
#include "experiments/experiment.h"

namespace dre::experiments {

using ExperimentMaker = std::unique_ptr<Experiment> (*)();

const std::vector<Named<ExperimentMaker>>& experiment_table();

/// An unknown name is a usage error that lists the known ones.
std::unique_ptr<Experiment> experiment_by_name(const std::string& name);

}  // namespace dre::experiments
