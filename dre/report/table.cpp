#include "dre/report/table.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "dre/base/error.h"

namespace dre::report {
namespace {

const char* const nothing = "–";

/// Characters, not bytes: continuation bytes of UTF-8 take no room.
size_t width(const std::string& text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char byte) { return (byte & 0xC0) != 0x80; }));
}

std::string padded(const std::string& text, size_t to, bool right) {
  const size_t own = width(text);
  const std::string space(own < to ? to - own : 0, ' ');
  return right ? space + text : text + space;
}

/// Cells as words, the head first.
struct Shown {
  std::vector<std::vector<std::string>> lines;
  std::vector<size_t> widths;
  std::vector<bool> numeric;
};

Shown show(const Table& table) {
  check_shape(table);
  Shown out{{table.columns}, std::vector<size_t>(table.columns.size()), {}};
  for (const auto& row : table.rows) {
    out.lines.emplace_back();
    for (const auto& cell : row) out.lines.back().push_back(cell.shown());
  }
  for (size_t i = 0; i < table.columns.size(); ++i) {
    out.numeric.push_back(is_numeric(table, i));
    for (const auto& line : out.lines) out.widths[i] = std::max(out.widths[i], width(line[i]));
  }
  return out;
}

std::string bar_escaped(const std::string& text) {
  std::string out;
  for (const char c : text) out += c == '|' ? std::string("\\|") : std::string(1, c);
  return out;
}

nlohmann::json cell_json(const Cell& cell) {
  if (!cell.words.empty()) return cell.words;
  if (!cell.value) return nullptr;
  if (!cell.standard_error) return *cell.value;
  return {{"value", *cell.value}, {"standard_error", *cell.standard_error}};
}

}  // namespace

std::string number(double value) {
  if (std::isnan(value)) return nothing;
  if (std::isinf(value)) return value > 0 ? "∞" : "−∞";
  // Counts of steps, rows and parameters are whole, and read better without an exponent.
  const bool large = std::abs(value) >= 9999.5 && std::abs(value) < 1e9;
  char digits[64];
  std::snprintf(digits, sizeof digits, large ? "%.0f" : "%.4g", value);
  return digits;
}

std::string number(double value, double standard_error) {
  if (!std::isfinite(value)) return number(value);
  if (!std::isfinite(standard_error) || standard_error < 0) return number(value);
  const int exponent =
      standard_error > 0 ? static_cast<int>(std::floor(std::log10(standard_error))) : 0;
  if (standard_error == 0 || exponent > 4 || exponent < -6)
    return number(value) + " ± " + number(standard_error);
  char digits[128];
  const int decimals = std::max(0, 1 - exponent);
  std::snprintf(digits, sizeof digits, "%.*f ± %.*f", decimals, value, decimals, standard_error);
  return digits;
}

std::string Cell::shown() const {
  if (!words.empty()) return words;
  if (!value) return nothing;
  return standard_error ? number(*value, *standard_error) : number(*value);
}

void check_shape(const Table& table) {
  for (const auto& row : table.rows)
    check(row.size() == table.columns.size(), "table '", table.caption, "': a row has ", row.size(),
          " cells, the table ", table.columns.size(), " columns");
}

bool is_numeric(const Table& table, size_t column) {
  return std::any_of(table.rows.begin(), table.rows.end(),
                     [&](const auto& row) { return row[column].value.has_value(); });
}

std::string to_text(const Table& table) {
  const Shown shown = show(table);
  std::string out = table.caption.empty() ? "" : table.caption + "\n";
  for (size_t row = 0; row < shown.lines.size(); ++row) {
    std::string line;
    for (size_t i = 0; i < shown.widths.size(); ++i)
      line += (i > 0 ? "  " : "") + padded(shown.lines[row][i], shown.widths[i], shown.numeric[i]);
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
    if (row > 0) continue;
    for (size_t i = 0; i < shown.widths.size(); ++i)
      out += (i > 0 ? "  " : "") + std::string(shown.widths[i], '-');
    out += "\n";
  }
  return out + (table.footnote.empty() ? "" : table.footnote + "\n");
}

std::string to_markdown(const Table& table) {
  const Shown shown = show(table);
  std::string out = table.caption.empty() ? "" : table.caption + "\n\n";
  for (size_t row = 0; row < shown.lines.size(); ++row) {
    out += "|";
    for (size_t i = 0; i < shown.widths.size(); ++i) {
      const bool strong = row > 0 && table.rows[row - 1][i].strong;
      const std::string mark = strong ? "**" : "";
      out += " " + mark + bar_escaped(shown.lines[row][i]) + mark + " |";
    }
    out += "\n";
    if (row > 0) continue;
    out += "|";
    for (const bool numeric : shown.numeric) out += numeric ? "--:|" : "---|";
    out += "\n";
  }
  return out + (table.footnote.empty() ? "" : "\n" + table.footnote + "\n");
}

nlohmann::json to_json(const Table& table) {
  check_shape(table);
  nlohmann::json rows = nlohmann::json::array();
  for (const auto& row : table.rows) {
    nlohmann::json json = nlohmann::json::object();
    for (size_t i = 0; i < row.size(); ++i) json[table.columns[i]] = cell_json(row[i]);
    rows.push_back(std::move(json));
  }
  return {{"caption", table.caption},
          {"columns", table.columns},
          {"rows", std::move(rows)},
          {"footnote", table.footnote}};
}

}  // namespace dre::report
