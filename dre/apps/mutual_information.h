/// Mutual information of two groups of columns: the divergence of the rows from rows in which the
/// second group is shuffled, I(X;Y) = E[log p(x,y) / (p(x) p(y))].
#pragma once

#include "dre/apps/divergence.h"
#include "dre/apps/groups.h"
#include "dre/apps/pair_critic.h"

namespace dre {

struct MutualInformationOptions {
  CrossFitOptions cross_fit;
  PairCriticOptions pairs;
  int64_t shuffles = 4;
  double level = 0.95;
  FitOptions fit;

  MutualInformationOptions();
  void visit(OptionVisitor& v);
};

struct MutualInformation {
  Divergence information;  ///< nats, at most the entropy of a group
  Tensor pointwise;        ///< [n]: log p(x,y) / (p(x) p(y)) by models that have not seen the row
  LogisticLine calibration;
  int64_t rows = 0;
  double level = 0;
  bool interrupted = false;  ///< then `information` is NaN
};

/// Each model is fitted to the rows outside its fold, and rates the rows of the fold; these against
/// one shuffle of their own recalibrate the log-ratios. The method "auto" is the critic of pairs
/// (apps/pair_critic.h); any other is fitted to the rows against `shuffles` shuffles of them.
MutualInformation mutual_information(const Groups& groups, const MutualInformationOptions& options,
                                     Progress& progress);

}  // namespace dre
