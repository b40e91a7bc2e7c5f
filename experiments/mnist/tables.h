/// What the cells of the experiment on MNIST say together: tables, charts, pictures.
#pragma once

#include "experiments/mnist/plan.h"

namespace dre::experiments::mnist {

report::Table noise_table(const Settings& settings, const Results& results);

/// The paper's table: methods, noise models, three estimators, its figures beside ours.
report::Table paper_table(const Settings& settings, const Results& results);

/// Our method by every estimator there is.
report::Table velocity_table(const Settings& settings, const Results& results);

/// n temperatures against 2n: how far annealing is from its end.
report::Table anneal_table(const Settings& settings, const Results& results);

/// Network evaluations for an image and wall clock for 100.
report::Table cost_table(const Settings& settings, const Results& results);

/// Bits of validation images while training ran.
report::Chart training_chart(const Settings& settings, const Results& results);

/// How far direct and flow bits of an image are apart while training ran.
report::Chart disagreement_chart(const Settings& settings, const Results& results);

std::vector<report::Picture> pictures(const Settings& settings, const Results& results);

}  // namespace dre::experiments::mnist
