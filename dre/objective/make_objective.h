/// Named objectives: what a method minimises.
#pragma once

#include <memory>

#include "dre/base/options.h"
#include "dre/objective/conditional.h"
#include "dre/objective/objective.h"
#include "dre/score/score.h"

namespace dre {

struct ObjectiveOptions {
  std::string matching = "pathwise";
  std::string time_weight = "one";
  std::string data_term = "sliced";
  double time_step = 0.05;
  int64_t random_times = 9;

  void visit(OptionVisitor& v);
  static Names matchings();
};

/// The objective of `method` for a score made by `make_score` with the same name; the score must
/// outlive it. `moments` sizes the weights of the conditional and velocity objectives.
std::unique_ptr<Objective> make_objective(const std::string& method, const Score& score,
                                          const BridgePtr& bridge, const SecondMoments& moments,
                                          const ObjectiveOptions& options);

}  // namespace dre
