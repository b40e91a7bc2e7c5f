/// The options of annealing, of its pilot runs too.
#pragma once

#include "dre/base/options.h"

namespace dre {

struct AnnealOptions {
  int64_t chains = 100;
  int64_t steps = 1000;
  int64_t leapfrogs = 10;
  int64_t pilot_steps = 200;
  double acceptance = 0.6;
  double adaptation = 0.05;
  double first_step = 0.02;
  int64_t block = 1000;

  void visit(OptionVisitor& v) {
    v("chains", chains, at_least(2), "annealed chains side by side");
    v("anneal-steps", steps, at_least(1), "temperatures between the noise model and the model");
    v("leapfrogs", leapfrogs, at_least(1), "leapfrog steps of a transition");
    v("pilot-steps", pilot_steps, at_least(1),
      "temperatures of each pilot run, one there and one back; each takes 5 to 30 transitions");
    v("acceptance", acceptance, between(0.05, 0.95), "acceptance the step size is adapted to");
    v("adaptation", adaptation, positive(), "relative change of the step size in the pilot run");
    v("first-step", first_step, positive(), "step size the pilot run starts from");
    v("raise-block", block, at_least(1), "points annealed backwards at a time");
  }
};

}  // namespace dre
