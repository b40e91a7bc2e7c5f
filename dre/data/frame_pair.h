/// Two frames of the same columns, which have to agree on what a column is.
#pragma once

#include <string>

#include "dre/data/frame.h"
#include "dre/data/place.h"

namespace dre {

/// Data error where column `at` is of numbers or dates in `plain`, and of such with a few words
/// among them in `mixed`, a frame of `file`.
void refuse_exceptions_in(const std::string& file, const Frame& mixed, const Frame& plain,
                          size_t at, const Advice& advice);

}  // namespace dre
