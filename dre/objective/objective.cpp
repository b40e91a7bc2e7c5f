#include "dre/objective/objective.h"

namespace dre {

Tensor row_losses(const Terms& terms) {
  if (!terms.free.defined()) return terms.at_time;
  return terms.at_time.defined() ? terms.at_time + terms.free : terms.free;
}

}  // namespace dre
