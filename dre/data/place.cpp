#include "dre/data/place.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>

#include "dre/base/error.h"
#include "dre/base/names.h"

namespace dre {
namespace {

constexpr size_t longest_piece = 40;
constexpr size_t longest_list = 20;

/// The bytes of the UTF-8 letter that begins at `at`, or 0 where none does.
size_t utf8_length(std::string_view bytes, size_t at) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(bytes[i]); };
  const unsigned char lead = byte(at);
  if (lead < 0x80) return 1;
  const size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || at + length > bytes.size()) return 0;
  for (size_t i = 1; i < length; ++i)
    if ((byte(at + i) & 0xC0) != 0x80) return 0;
  // Overlong forms, surrogates and code points above U+10FFFF.
  const unsigned char second = byte(at + 1);
  if ((lead == 0xE0 && second < 0xA0) || (lead == 0xED && second > 0x9F)) return 0;
  if ((lead == 0xF0 && second < 0x90) || (lead == 0xF4 && second > 0x8F)) return 0;
  return length;
}

}  // namespace

std::string Place::describe() const {
  std::string out = file;
  if (row > 0) out += text(": row ", row);
  if (line > 0) out += row > 0 ? text(" (line ", line, ")") : text(": line ", line);
  if (!column.empty()) out += text(row > 0 || line > 0 ? ", " : ": ", "column ", shown(column));
  return out;
}

std::string Advice::or_drop(const std::string& column) const {
  if (drop_flag.empty() || contains(needed, column)) return "";
  const bool can_be_typed =
      is_utf8(column) && std::none_of(column.begin(), column.end(), [](unsigned char letter) {
        return std::iscntrl(letter) != 0;
      });
  return text(", or leave the column out with ", drop_flag, " ",
              can_be_typed ? shell_list({column}) : shown(column));
}

std::string shown(std::string_view piece) {
  std::string out = "'";
  for (size_t at = 0; at < piece.size();) {
    if (at >= longest_piece) return out + "...'";
    const size_t length = utf8_length(piece, at);
    const auto lead = static_cast<unsigned char>(piece[at]);
    if (length == 0 || lead < 0x20 || lead == 0x7F)
      out += '?';
    else
      out.append(piece.substr(at, length));
    at += std::max<size_t>(length, 1);
  }
  return out + "'";
}

std::string listed(const std::vector<std::string>& names) {
  std::vector<std::string> head;
  for (size_t i = 0; i < names.size() && i < longest_list; ++i) {
    const std::string quoted = shown(names[i]);
    head.push_back(quoted.substr(1, quoted.size() - 2));
  }
  if (names.size() > head.size()) head.push_back(text("and ", names.size() - head.size(), " more"));
  return head.empty() ? "none" : join(head);
}

std::string count_text(double count) {
  char digits[320];                   // of the largest double
  constexpr double rounding = 1e-12;  // 152 rows are 152, whatever a sum makes of their weights
  std::snprintf(digits, sizeof digits, "%.0f", std::floor(count * (1 + rounding)));
  return digits;
}

bool is_utf8(std::string_view bytes) {
  for (size_t at = 0; at < bytes.size();) {
    const size_t length = utf8_length(bytes, at);
    if (length == 0) return false;
    at += length;
  }
  return true;
}

std::string printable(const std::string& text) {
  if (is_utf8(text)) return text;
  std::string out;
  for (const unsigned char byte : text) {
    if (byte >= 0x20 && byte < 0x7F) {
      out += static_cast<char>(byte);
      continue;
    }
    out += "\\x";
    for (const int half : {byte >> 4, byte & 15}) out += "0123456789ABCDEF"[half];
  }
  return out;
}

}  // namespace dre
