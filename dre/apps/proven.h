/// What counting proves of divergences, whatever a model makes of the rows: no event has
/// probabilities on the two sides that are farther apart than the sides are.
#pragma once

#include "dre/apps/divergence.h"
#include "dre/apps/support.h"
#include "dre/data/encoding_plan.h"

namespace dre {

/// Raises values and ends of intervals to what is known by rows of one side beyond the range of the
/// other: of the numerator's law so much is where the denominator's has next to nothing, and the
/// other way round. A network is smooth, and makes less of a sharp end.
void raise_to_proven(Divergences& divergences, const BeyondRange& numerator,
                     const BeyondRange& denominator);

/// The same by rare levels that only one side has, which the model sees as one. Upper ends are as
/// large as can be: nobody knows what else such levels hide.
void raise_to_own_levels(Divergences& divergences, const OwnLevels& own);

}  // namespace dre
