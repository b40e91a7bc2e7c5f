/// What counting proves of divergences, whatever a model makes of the rows: no event has
/// probabilities on the two sides that are farther apart than the sides are.
#pragma once

#include "dre/apps/divergence.h"
#include "dre/apps/support.h"

namespace dre {

/// Raises values and ends of intervals to what is known by rows of one side beyond the range of the
/// other: of the numerator's law so much is where the denominator's has next to nothing, and the
/// other way round. A network is smooth, and makes less of a sharp end.
void raise_to_proven(Divergences& divergences, const BeyondRange& numerator,
                     const BeyondRange& denominator);

}  // namespace dre
