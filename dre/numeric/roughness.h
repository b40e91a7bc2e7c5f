/// How far the rows are from a smooth function of one or two columns, judged by neighbours.
#pragma once

#include <torch/types.h>

#include "dre/base/context.h"

namespace dre {

/// For each column of y the median over rows of
///   | y - cubic through the neighbours in x |  /  range of y among the row and these neighbours.
/// A smooth function of x gives nearly 0, and the less the more rows there are. Noise that can be
/// seen between neighbours gives 0.1 and more: both parts scale alike, so that neither units nor
/// steep maps of y nor heavy tails matter. Neighbours that all have the same y do not count; where
/// fewer than 20 rows or than a quarter of them are left, y has steps, and it is infinite. At most
/// 2 000 rows are used, evenly spread.
///
/// x: [n, 1] (the two neighbours on each side) or [n, 2] (the 12 nearest by ranks), y: [n, dy]
/// -> [dy], float64
Tensor roughness(const Tensor& x, const Tensor& y);

}  // namespace dre
