/// A few words in a column of numbers or of dates: errors, or marks of missing values, that must
/// not turn it into thousands of categories.
#pragma once

#include <cstdint>
#include <string>

#include "dre/data/place.h"

namespace dre {

/// With no more distinct values than this a column may well be of categories.
constexpr size_t few_levels = 50;

/// No more different words than this among many different numbers or dates are marks, "?" or
/// "unknown", however often they stand there.
constexpr size_t few_marks = 3;

/// Cells that do not follow the rule that others of their column do.
struct Exceptions {
  Place first;       ///< of the first of them
  std::string cell;  ///< what stands there
  int64_t count = 0;
  size_t different = 0;  ///< how many different ones, at least
};

/// Data error where nearly all cells follow the rule and a few do not, or where those that do not
/// are marks. `what`: what `following` cells of the column are, "a number".
void refuse_exceptions(const Exceptions& exceptions, const char* what, int64_t following,
                       const Advice& advice);

}  // namespace dre
