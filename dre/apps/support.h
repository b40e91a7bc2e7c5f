/// Where one side has rows and the other has none, so that the ratio is infinite.
#pragma once

#include "dre/data/encoding.h"
#include "dre/data/samples.h"

namespace dre {

/// Rows of `side` with a value beyond the range of `other`, or with a level, a point mass or a
/// missing cell that it never has; of columns where so many are at one end that chance would do it
/// in one of ten thousand tables. [n] bool
Tensor beyond_range(const Samples& side, const Samples& other, const Encoding& encoding);

/// Whether there are such rows by a level, a point mass or missing cells alone: the ratio is
/// infinite there.
bool has_own_levels(const Samples& side, const Samples& other, const Encoding& encoding);

/// Whether some combination of the columns of x [n, dx] equals one of those of y [n, dy] to
/// rounding, by value or by rank, and takes many values: then rows fill no volume among shuffles of
/// them, and their information has no bound. The first 10 000 rows decide.
bool one_fixes_the_other(const Tensor& x, const Tensor& y);

}  // namespace dre
