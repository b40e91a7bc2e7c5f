/// Dates in text, as ISO 8601 writes them: 2024-03-05, 2024/03/05, either with a time behind a T or
/// a space: 14:30, 14:30:05, 14:30:05.25; a final Z is allowed. A date becomes a number: days since
/// 1970-01-01 in the proleptic Gregorian calendar.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace dre {

/// Nothing where `text` is no date.
std::optional<double> parse_date(std::string_view text);

/// "2024-03-05", with "T14:30:05" behind it where the day is not whole; seconds are rounded.
std::string date_text(double days);

}  // namespace dre
