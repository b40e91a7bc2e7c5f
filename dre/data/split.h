/// A random part of the rows held out, for early stopping and honest evaluation.
#pragma once

#include "dre/data/samples.h"

namespace dre {

struct Split {
  Samples train, held_out;
  Tensor train_rows, held_out_rows;  ///< int64, ascending, together every row once
};

/// Holds out round(share * n) rows, at least one and not all. Every row has the same chance; where
/// weights differ, rows of like weight are spread evenly over both parts, so that few heavy rows
/// do not all land in one. Data error where a part would be empty or weigh nothing.
Split split(const Samples& samples, double held_out_share, at::Generator& generator);

}  // namespace dre
