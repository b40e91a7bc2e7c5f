#include "dre/data/exceptions.h"

#include "dre/base/error.h"

namespace dre {
namespace {

/// So many cells that follow the rule for each that does not.
constexpr int64_t rules_an_exception = 20;

}  // namespace

void refuse_exceptions(const Exceptions& exceptions, const char* what, int64_t following,
                       const Advice& advice) {
  if (exceptions.count == 0 || following == 0) return;
  const bool rare = following >= rules_an_exception * exceptions.count;
  if (!rare && exceptions.different > few_marks) return;
  const bool most = following > exceptions.count;
  fail(Error::Kind::data, exceptions.first.describe(), ": ", shown(exceptions.cell), " is not ",
       what, ", but ", most ? "most " : "", "other cells of the column are (", following, " of ",
       following + exceptions.count,
       "); correct it, write NA for a missing value, or name the column in --categorical",
       advice.or_drop(exceptions.first.column));
}

}  // namespace dre
