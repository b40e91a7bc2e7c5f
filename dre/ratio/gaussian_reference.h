/// The Gaussians of the two sides that a fit starts from: what is left to learn is how far the rows
/// are from them.
#pragma once

#include "dre/bridge/gaussian_path.h"
#include "dre/data/moments.h"
#include "dre/data/samples.h"

namespace dre {

/// moments: of the two sides in the coordinates of the fit; differences between the sides that
/// chance explains are left out.
GaussianEnds gaussian_reference(const Moments& moments, const Samples& numerator,
                                const Samples& denominator);

/// At atoms variances differ where means do, as p (1 - p) does with p, and their quotient makes too
/// much of it: of the way from one variance for both sides to two it goes as far as tells the rows
/// themselves best apart, if that is surely better; all of it where too few of them decide.
/// numerator, denominator: rows in the coordinates of the fit.
GaussianEnds gaussian_reference_at_atoms(const GaussianEnds& ends, const Samples& numerator,
                                         const Samples& denominator);

}  // namespace dre
