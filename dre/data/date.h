/// Dates in text, as ISO 8601 writes them: 2024-03-05, 2024/03/05, either with a time behind a T or
/// a space: 14:30, 14:30:05, 14:30:05.25, and behind that Z or how far its clock is ahead of UTC:
/// +02:00, +0200, -05. A date becomes a number: days since 1970-01-01 in the proleptic Gregorian
/// calendar, of UTC where the text says how far that is, else of the clock it was written by.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace dre {

/// Nothing where `text` is no date.
std::optional<double> parse_date(std::string_view text);

/// "2024-03-05", with "T14:30:05" behind it where the day is not whole; seconds are rounded, and
/// what was given with an offset is written in UTC.
std::string date_text(double days);

}  // namespace dre
