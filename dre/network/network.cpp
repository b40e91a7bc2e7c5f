#include "dre/network/network.h"

#include "dre/base/error.h"

namespace dre {

void check_point(const Dual& x, const Dual& t, int64_t inputs, bool time) {
  check(x.defined() && x.value.dim() == 2 && x.value.size(1) == inputs,
        "the network takes points of shape [n, ", inputs, "], got ",
        x.defined() ? text(x.value.sizes()) : "none");
  check(t.defined() == time, time ? "the network needs a time" : "the network takes no time");
  if (!time) return;
  check(t.value.dim() == 2 && t.value.size(0) == x.value.size(0) && t.value.size(1) == 1,
        "the network takes times of shape [", x.value.size(0), ", 1], got ", t.value.sizes());
}

}  // namespace dre
