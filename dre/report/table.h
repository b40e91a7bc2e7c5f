/// Tables of results: words and numbers with their errors, and their forms for people and programs.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace dre::report {

/// Words, or a number with or without a standard error, or nothing.
struct Cell {
  std::string words;
  std::optional<double> value, standard_error;
  bool strong = false;  ///< drawn to the reader's eye

  Cell() = default;
  Cell(const char* given) : words(given) {}
  Cell(std::string given) : words(std::move(given)) {}
  Cell(double given) : value(given) {}
  Cell(double given, double error) : value(given), standard_error(error) {}

  /// As people read it: "0.061 ± 0.004", "–" for nothing.
  std::string shown() const;
};

struct Table {
  std::string caption;
  std::vector<std::string> columns;     ///< names
  std::vector<std::vector<Cell>> rows;  ///< as many cells each as there are columns
  std::string footnote = {};            ///< below the table, may be empty
};

/// Throws unless every row has a cell for every column.
void check_shape(const Table& table);

/// Whether a column holds numbers, so that its cells stand to the right; some may be words
/// ("missing").
bool is_numeric(const Table& table, size_t column);

/// Columns in line, for a terminal.
std::string to_text(const Table& table);

/// As GitHub draws it.
std::string to_markdown(const Table& table);

/// {"caption", "columns", "rows": [{column: words, number, {"value", "standard_error"} or null}]}
nlohmann::json to_json(const Table& table);

/// Four significant digits; "∞" and "–" where there is no finite number.
std::string number(double value);

/// With as many digits as the error leaves sense in.
std::string number(double value, double standard_error);

}  // namespace dre::report
