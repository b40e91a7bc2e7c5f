#include "dre/data/cell.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <system_error>

namespace dre {
namespace {

constexpr std::array<std::string_view, 4> missing_words = {"na", "nan", "null", "none"};

bool same_word(std::string_view text, std::string_view lower) {
  if (text.size() != lower.size()) return false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char letter = text[i] >= 'A' && text[i] <= 'Z' ? char(text[i] + 32) : text[i];
    if (letter != lower[i]) return false;
  }
  return true;
}

int64_t written_exponent(std::string_view digits) {
  if (!digits.empty() && digits.front() == '+') digits.remove_prefix(1);
  int64_t exponent = 0;
  const auto [stop, status] =
      std::from_chars(digits.data(), digits.data() + digits.size(), exponent);
  if (status != std::errc::result_out_of_range) return exponent;
  constexpr int64_t beyond = int64_t{1} << 60;
  return digits.front() == '-' ? -beyond : beyond;
}

/// from_chars only says "out of range": the decimal exponent tells 1e999 from 1e-999.
bool is_large(std::string_view number) {
  const size_t mark = number.find_first_of("eE");
  const std::string_view mantissa = number.substr(0, mark);
  const int64_t exponent =
      mark == std::string_view::npos ? 0 : written_exponent(number.substr(mark + 1));
  const size_t first = mantissa.find_first_of("123456789");
  const size_t point = std::min(mantissa.find('.'), mantissa.size());
  return static_cast<int64_t>(point) - static_cast<int64_t>(first) + exponent > 0;
}

}  // namespace

std::string_view trimmed(std::string_view text) {
  const auto blank = [](char letter) { return letter == ' ' || letter == '\t'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

bool is_missing(std::string_view text) {
  if (text.empty()) return true;
  if (text.size() > 4) return false;
  for (const auto& word : missing_words)
    if (same_word(text, word)) return true;
  return false;
}

std::optional<std::string> rounded_whole(std::string_view text) {
  text = trimmed(text);
  const bool negative = !text.empty() && text.front() == '-';
  if (negative || (!text.empty() && text.front() == '+')) text.remove_prefix(1);
  constexpr size_t always_exact = 15;  // digits that a double holds
  if (text.size() <= always_exact || text.find_first_not_of("0123456789") != text.npos) return {};
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  char digits[400];  // of the largest double
  const auto end = std::to_chars(digits, digits + sizeof digits, value, std::chars_format::fixed);
  text.remove_prefix(std::min(text.find_first_not_of('0'), text.size() - 1));
  if (text == std::string_view(digits, static_cast<size_t>(end.ptr - digits))) return {};
  return (negative ? "-" : "") + std::string(text);
}

Cell parse_cell(std::string_view text) {
  text = trimmed(text);
  std::string_view number = text;
  if (number.size() > 1 && number[0] == '+' && number[1] != '-') number.remove_prefix(1);
  const char* end = number.data() + number.size();
  double value = 0;
  const auto [stop, status] = std::from_chars(number.data(), end, value);
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  if (stop == end && status == std::errc{}) {
    if (std::isfinite(value)) return {Cell::Kind::number, value};
    if (std::isinf(value)) return {Cell::Kind::infinite, 0};
    return {Cell::Kind::missing, nan};
  }
  if (stop == end && status == std::errc::result_out_of_range) {
    if (is_large(number)) return {Cell::Kind::infinite, 0};
    return {Cell::Kind::number, number[0] == '-' ? -0.0 : 0.0};
  }
  if (is_missing(text)) return {Cell::Kind::missing, nan};
  return {Cell::Kind::other, 0};
}

}  // namespace dre
