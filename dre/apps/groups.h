/// Two groups of columns of one file, encoded.
#pragma once

#include <torch/types.h>

#include <limits>
#include <string>
#include <vector>

#include "dre/apps/typed_table.h"
#include "dre/base/warning.h"

namespace dre {

using torch::Tensor;

/// Which columns of a file are which.
struct GroupsOptions : TableOptions {
  std::string data;
  std::vector<std::string> x, y;

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
  bool no_bound = false;  ///< a column of one group is a function of the other group
  std::vector<std::string> x_columns = {}, y_columns = {};  ///< those of the file that are used
};

/// Where neither `x` nor `y` is given, the first `dx` columns and the `dy` behind them are, and a
/// csv file needs no header. seed: of the sample that max_rows asks for.
Groups load_groups(const GroupsOptions& options, int64_t dx = 0, int64_t dy = 0, int64_t seed = 0);

/// From tensors, [n, dx] and [n, dy], finite; without names the columns are x0, x1, ... and y0,
/// y1, ...
Groups make_groups(const Tensor& x, const Tensor& y, std::vector<std::string> x_names = {},
                   std::vector<std::string> y_names = {});

/// Usage error where the groups are not of the same rows.
void check_same_rows(const Groups& groups);

/// Data error where the models of so many folds would have too few rows.
void check_rows_in_folds(const Groups& groups, int64_t folds);

}  // namespace dre
