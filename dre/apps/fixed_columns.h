/// Whether the columns of one group fix one of another, so that their information has no bound.
#pragma once

#include "dre/base/context.h"

namespace dre {

/// Whether rows of x [n, dx] and y [n, dy] fill no volume among shuffles of them, as far as they
/// show, so that their information has no bound: some combination of the columns of x equals one of
/// those of y to rounding, by value or by rank, and takes many values (the first 10 000 rows
/// decide); or a column of one is a smooth function of a column of the other, or of both where that
/// has two. Functions of one column are looked for in up to 40 columns of both together, which
/// takes a second.
bool one_fixes_the_other(const Tensor& x, const Tensor& y);

}  // namespace dre
