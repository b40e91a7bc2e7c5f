/// One cell of a text table: a number, a missing value, an infinite number, or other text.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace dre {

struct Cell {
  enum class Kind { number, missing, infinite, other };
  Kind kind;
  double value;  ///< NaN for missing, 0 for infinite and other
};

/// Without spaces and tabs at both ends.
std::string_view trimmed(std::string_view text);

/// Empty, NA, NaN, null, None in any case; `text` is trimmed.
bool is_missing(std::string_view text);

/// The digits of a whole number that a double would round, as 1234567890123456789, without a plus
/// sign and zeros before them; nothing of other text.
std::optional<std::string> rounded_whole(std::string_view text);

/// Numbers as C writes them, with '.' whatever the locale says; too small ones are zero.
Cell parse_cell(std::string_view text);

}  // namespace dre
