#include "dre/data/exceptions.h"

#include "dre/base/error.h"

namespace dre {
namespace {

/// So many cells that follow the rule for each that does not.
constexpr int64_t rules_an_exception = 20;

}  // namespace

void refuse_exceptions(const Place& first, const std::string& cell, const char* what,
                       int64_t following, int64_t exceptions, const Advice& advice) {
  if (exceptions == 0 || following < rules_an_exception * exceptions) return;
  fail(Error::Kind::data, first.describe(), ": ", shown(cell), " is not ", what,
       ", but most other cells of the column are (", following, " of ", following + exceptions,
       "); correct it, write NA for a missing value, or name the column in --categorical",
       advice.or_drop(first.column));
}

}  // namespace dre
