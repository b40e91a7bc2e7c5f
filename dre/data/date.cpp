#include "dre/data/date.h"

#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>

namespace dre {
namespace {

constexpr int64_t seconds_a_day = 86400;

/// Takes a whole number of exactly `digits` digits off the front.
std::optional<int> take_number(std::string_view& text, size_t digits) {
  if (text.size() < digits) return std::nullopt;
  int value = 0;
  for (size_t i = 0; i < digits; ++i) {
    if (text[i] < '0' || text[i] > '9') return std::nullopt;
    value = 10 * value + (text[i] - '0');
  }
  text.remove_prefix(digits);
  return value;
}

bool take(std::string_view& text, char letter) {
  if (text.empty() || text.front() != letter) return false;
  text.remove_prefix(1);
  return true;
}

std::optional<double> take_day(std::string_view& text) {
  const auto year = take_number(text, 4);
  if (!year || text.empty()) return std::nullopt;
  const char separator = text.front();
  if ((separator != '-' && separator != '/') || !take(text, separator)) return std::nullopt;
  const auto month = take_number(text, 2);
  if (!month || !take(text, separator)) return std::nullopt;
  const auto day = take_number(text, 2);
  if (!day) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(*year),
                                         std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day))};
  if (!date.ok()) return std::nullopt;
  return static_cast<double>(std::chrono::sys_days(date).time_since_epoch().count());
}

/// Seconds with an optional fraction.
std::optional<double> take_seconds(std::string_view& text) {
  const auto whole = take_number(text, 2);
  if (!whole || *whole > 60) return std::nullopt;  // 60: a leap second
  double fraction = 0;
  if (!text.empty() && text.front() == '.') {
    const char* end = text.data() + text.size();
    const auto [stop, status] =
        std::from_chars(text.data(), end, fraction, std::chars_format::fixed);
    if (status != std::errc()) return std::nullopt;
    text.remove_prefix(static_cast<size_t>(stop - text.data()));
  }
  return *whole + fraction;
}

std::optional<double> take_time(std::string_view& text) {
  const auto hour = take_number(text, 2);
  if (!hour || *hour > 24 || !take(text, ':')) return std::nullopt;
  const auto minute = take_number(text, 2);
  if (!minute || *minute > 59) return std::nullopt;
  std::optional<double> second = 0;
  if (take(text, ':')) second = take_seconds(text);
  if (!second) return std::nullopt;
  return (*hour * 3600 + *minute * 60 + *second) / static_cast<double>(seconds_a_day);
}

/// Days by which the clock is ahead of UTC: Z, +02:00, +0200, +02; 0 where nothing is said.
std::optional<double> take_offset(std::string_view& text) {
  if (text.empty() || take(text, 'Z')) return 0;
  const double sign = text.front() == '-' ? -1 : 1;
  if (!take(text, '+') && !take(text, '-')) return std::nullopt;
  const auto hours = take_number(text, 2);
  std::optional<int> minutes = 0;
  if (take(text, ':') || !text.empty()) minutes = take_number(text, 2);
  if (!hours || !minutes || *hours > 23 || *minutes > 59) return std::nullopt;
  return sign * (*hours * 3600 + *minutes * 60) / static_cast<double>(seconds_a_day);
}

}  // namespace

std::optional<double> parse_date(std::string_view text) {
  const auto day = take_day(text);
  if (!day || text.empty()) return day;
  if (!take(text, 'T') && !take(text, ' ')) return std::nullopt;
  const auto time = take_time(text);
  if (!time) return std::nullopt;
  const auto ahead = take_offset(text);
  if (!ahead || !text.empty()) return std::nullopt;
  return *day + (*time - *ahead);
}

std::string date_text(double days) {
  const auto seconds = static_cast<int64_t>(std::llround(days * seconds_a_day));
  const int64_t day = (seconds - (seconds < 0 ? seconds_a_day - 1 : 0)) / seconds_a_day;
  const std::chrono::year_month_day date{std::chrono::sys_days(std::chrono::days(day))};
  char out[48];
  int length =
      std::snprintf(out, sizeof out, "%04d-%02u-%02u", static_cast<int>(date.year()),
                    static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
  const auto rest = static_cast<int>(seconds - day * seconds_a_day);
  if (rest != 0)
    length += std::snprintf(out + length, sizeof out - static_cast<size_t>(length),
                            "T%02d:%02d:%02d", rest / 3600, rest / 60 % 60, rest % 60);
  return {out, static_cast<size_t>(length)};
}

}  // namespace dre
