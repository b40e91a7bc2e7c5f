#include "dre/score/score.h"

#include <utility>

#include "dre/base/error.h"
#include "dre/score/reference.h"

namespace dre {

Score::Score(ScoreParts parts) : parts_(std::move(parts)) {
  check(parts_.network && parts_.bridge && parts_.dimension > 0,
        "a score needs a network, a bridge and a dimension");
  check(!parts_.reference || parts_.reference->dimension() == parts_.dimension,
        "the reference path must have the score's dimension ", parts_.dimension);
}

Dual Score::outputs(const Dual& x, const Dual& t) const {
  check(x.value.dim() == 2 && x.value.size(1) == parts_.dimension, "x must be [n, ",
        parts_.dimension, "], got ", x.value.sizes());
  return parts_.network->forward(x, t);
}

Dual TimeScore::time_score(const Dual& x, const Dual& t) const {
  const Dual residual = time_residual(x, t);
  return reference() ? residual + sum(reference_time_score(*reference(), x, t), 1) : residual;
}

}  // namespace dre
