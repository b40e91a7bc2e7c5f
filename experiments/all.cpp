#include "experiments/all.h"

#include "experiments/gaussian_1d/gaussian_1d.h"

namespace dre::experiments {

const std::vector<Named<ExperimentMaker>>& experiment_table() {
  static const std::vector<Named<ExperimentMaker>> table = {
      {"gaussian-1d", make_gaussian_1d},
  };
  return table;
}

std::unique_ptr<Experiment> experiment_by_name(const std::string& name) {
  return choose("experiment", experiment_table(), name)();
}

}  // namespace dre::experiments
