/// A few words in a column of numbers or of dates: errors that must not turn it into thousands of
/// categories.
#pragma once

#include <cstdint>
#include <string>

#include "dre/data/place.h"

namespace dre {

/// With no more distinct values than this a column may well be of categories.
constexpr size_t few_levels = 50;

/// Data error where nearly all cells follow the rule and a few do not. `first`, `cell`: the first
/// of these; `what`: what the others are, "a number".
void refuse_exceptions(const Place& first, const std::string& cell, const char* what,
                       int64_t following, int64_t exceptions, const Advice& advice);

}  // namespace dre
