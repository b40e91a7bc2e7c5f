/// What compare and weights say about weights and columns, in words for people.
#pragma once

#include <string>
#include <vector>

#include "dre/apps/column_effects.h"
#include "dre/apps/diagnostics.h"

namespace dre::cli {

/// "worth 512 of 1000 rows, Pareto k 0.31 (good below 0.67), mean 1.02 +- 0.03 (should be 1)"
std::string weight_text(const WeightCheck& check);

/// A table: one line a column with its effects before and after reweighting.
std::string column_lines(const std::vector<ColumnEffect>& columns);

}  // namespace dre::cli
