/// Linear rules that all rows of a table keep, as where one column is the sum of others.
#pragma once

#include <torch/types.h>

namespace dre {

using torch::Tensor;

/// Which rows of x break each of the k rules of others: they are more than ten times as far from a
/// plane as any row that was seen to lie in it, by rounding, for its size.
/// x: [n, d], others: [m, d] -> [n, k] bool; k = 0 where others has not two rows a column
Tensor off_planes(const Tensor& x, const Tensor& others);

}  // namespace dre
