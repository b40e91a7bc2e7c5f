/// Propositions 1 to 3: from many classifiers between neighbours on the bridge to the time score.
#pragma once

#include <memory>

#include "experiments/experiment.h"

namespace dre::experiments {

std::unique_ptr<Experiment> make_infinitesimal_classifier();

/// Logistic regression of "from p_(t+step)?" on 1, x, x^2 by Newton's method, from rows of p_t and
/// p_(t+step). before, after: [n] float64 -> [3] coefficients of the logit
Tensor quadratic_logit(const Tensor& before, const Tensor& after);

}  // namespace dre::experiments
