/// Mutual information of two groups of columns: the divergence of the rows from rows in which the
/// second group is shuffled, I(X;Y) = E[log p(x,y) / (p(x) p(y))].
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "dre/apps/divergence.h"
#include "dre/apps/pair_critic.h"
#include "dre/apps/warning.h"
#include "dre/data/encoding.h"

namespace dre {

/// Which columns of a file are which.
struct GroupsOptions {
  std::string data;
  std::vector<std::string> x, y;
  std::vector<std::string> categorical, numeric;
  std::string missing = "encode";
  int64_t max_rows = 1'000'000;

  void visit(OptionVisitor& v);
};

struct Groups {
  Tensor x, y;  ///< [n, dx] and [n, dy], encoded
  std::vector<std::string> x_names, y_names;
  std::vector<Warning> warnings;
  bool sampled = false;  ///< the file has more rows than are here
  /// Of a group of categories alone, the lesser one of two, nats: its entropy in these rows, which
  /// no information exceeds, and the logarithm of its levels, which no entropy does.
  double entropy = std::numeric_limits<double>::infinity();
  double largest_entropy = std::numeric_limits<double>::infinity();
};

/// Where neither `x` nor `y` is given, the first `dx` columns and the `dy` behind them are, and a
/// csv file needs no header. seed: of the sample that max_rows asks for.
Groups load_groups(const GroupsOptions& options, int64_t dx = 0, int64_t dy = 0, int64_t seed = 0);

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
  bool interrupted = false;
};

/// Each model is fitted to the rows outside its fold, and rates the rows of the fold; these against
/// one shuffle of their own recalibrate the log-ratios. The method "auto" is the critic of pairs
/// (apps/pair_critic.h); any other is fitted to the rows against `shuffles` shuffles of them.
MutualInformation mutual_information(const Groups& groups, const MutualInformationOptions& options,
                                     Progress& progress);

}  // namespace dre
