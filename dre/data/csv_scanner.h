/// Splits delimited text into records of cells: quotes with doubled quotes and line breaks inside,
/// CRLF, a UTF-8 byte order mark. Knows nothing about numbers or names.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "dre/data/source.h"

namespace dre {

/// `text` is trimmed where it was not quoted.
struct CsvCell {
  std::string_view text;
  bool quoted = false;
};

class CsvScanner {
 public:
  /// `delimiter` 0 means: comma, or what the first line has more of, tab or semicolon, where it has
  /// no comma.
  CsvScanner(std::unique_ptr<ByteSource> source, std::string name, char delimiter);

  /// Reads the next record; false at the end.
  bool next();

  /// The cells of the record, valid until `next` is called again.
  const std::vector<CsvCell>& cells() const { return cells_; }

  /// The line the record begins at, from 1.
  int64_t line() const { return line_; }

  /// An empty line, as opposed to one empty quoted cell.
  bool blank() const { return cells_.size() == 1 && !cells_[0].quoted && cells_[0].text.empty(); }

  char delimiter() const { return delimiter_; }

 private:
  struct Span {
    size_t begin, end;
    bool quoted, doubled;
  };
  enum class Step { more_cells, record_ends, needs_bytes };

  bool scan_record();
  Step scan_cell(size_t& at);
  Step scan_plain(size_t& at);
  Step scan_quoted(size_t& at);
  Step scan_separator(size_t& at);
  void finish_record(size_t end);
  std::string_view unquoted(const Span& span);
  void grow();
  void skip_byte_order_mark();
  char detect_delimiter() const;
  [[noreturn]] void refuse(int64_t line, const std::string& what) const;
  int64_t line_at(size_t position) const;

  std::unique_ptr<ByteSource> source_;
  std::string name_;
  std::vector<char> buffer_;
  size_t begin_ = 0;  ///< where the next record begins
  size_t end_ = 0;    ///< end of the bytes read so far
  bool at_end_ = false;
  bool has_nul_ = false;
  char delimiter_;
  std::array<bool, 256> stops_{};  ///< bytes that end an unquoted cell
  int64_t line_ = 0, next_line_ = 1;
  std::vector<Span> spans_;
  std::vector<CsvCell> cells_;
};

}  // namespace dre
