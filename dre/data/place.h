/// How messages name pieces and counts of input files, and what is wrong where; always in one line.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace dre {

/// A place in a file; parts that are zero or empty are not said.
struct Place {
  std::string file;
  int64_t row = 0;     ///< data row, from 1: the header is not counted
  int64_t line = 0;    ///< line of a text file, from 1
  std::string column;  ///< name

  /// "data.csv: row 3 (line 4), column 'age'"
  std::string describe() const;
};

/// What errors about cells can advise, which depends on who asked for them.
struct Advice {
  std::string drop_flag;            ///< by which a user leaves a column out; empty: by none
  std::vector<std::string> needed;  ///< columns that cannot be left out
  std::string missing = "one is needed here";  ///< why a missing value is refused

  /// ", or leave the column out with --drop 'age'", where it can be left out.
  std::string or_drop(const std::string& column) const;
};

/// A piece of a file, quoted, shortened and free of control characters.
std::string shown(std::string_view piece);

/// Names joined with commas; a long list is cut and says how many are left out.
std::string listed(const std::vector<std::string>& names);

/// "16280": a number of rows, rounded down, with all its digits.
std::string count_text(double count);

/// Names go into JSON later, which knows UTF-8 only.
bool is_utf8(std::string_view bytes);

/// Bytes that are no UTF-8 as \xE4, so that they can go into JSON and onto a screen.
std::string printable(const std::string& text);

}  // namespace dre
