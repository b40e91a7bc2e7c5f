#include "experiments/all.h"

#include "experiments/gaussian_1d/gaussian_1d.h"
#include "experiments/gaussian_2d/gaussian_2d.h"
#include "experiments/infinitesimal_classifier/infinitesimal_classifier.h"
#include "experiments/integration/integration.h"
#include "experiments/mnist/mnist.h"
#include "experiments/mutual_information/mutual_information.h"
#include "experiments/paths/paths.h"

namespace dre::experiments {

const std::vector<Named<ExperimentMaker>>& experiment_table() {
  static const std::vector<Named<ExperimentMaker>> table = {
      {"gaussian-1d", make_gaussian_1d},
      {"gaussian-2d", make_gaussian_2d},
      {"gaussian-2d-shifted", make_gaussian_2d_shifted},
      {"mutual-information", make_mutual_information},
      {"infinitesimal-classifier", make_infinitesimal_classifier},
      {"integration", make_integration},
      {"paths", make_paths},
      {"mnist", make_mnist},
  };
  return table;
}

std::unique_ptr<Experiment> experiment_by_name(const std::string& name) {
  return choose("experiment", experiment_table(), name)();
}

}  // namespace dre::experiments
