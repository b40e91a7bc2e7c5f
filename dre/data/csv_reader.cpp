#include "dre/data/csv_reader.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "dre/base/error.h"
#include "dre/data/cell.h"
#include "dre/data/columns.h"
#include "dre/data/csv_scanner.h"
#include "dre/data/place.h"

namespace dre {
namespace {

/// All cells are numbers or missing, and one at least is a number.
bool holds_only_numbers(const std::vector<CsvCell>& cells) {
  bool any_number = false;
  for (const CsvCell& cell : cells) {
    const Cell::Kind kind = parse_cell(cell.text).kind;
    if (kind == Cell::Kind::other) return false;
    any_number = any_number || kind == Cell::Kind::number;
  }
  return any_number;
}

struct Header {
  std::vector<std::string> names;
  bool is_row = false;  // the first line holds numbers, not names
};

Header read_header(CsvScanner& scanner, const std::string& file, bool optional) {
  check_data(scanner.next(), file,
             " is empty; a header line with column names and rows are needed");
  check_data(!scanner.blank(), file,
             ": the first line is blank; it must be the header with the column names");
  Header header;
  header.is_row = holds_only_numbers(scanner.cells());
  check_data(optional || !header.is_row, file,
             ": the first line holds numbers only; put a header line with column names, such as "
             "x0,x1,x2, before it");
  for (const CsvCell& cell : scanner.cells())
    header.names.push_back(header.is_row ? text("x", header.names.size()) : std::string(cell.text));
  return header;
}

[[noreturn]] void refuse_text(const Place& place, std::string_view cell, const Advice& advice) {
  std::string with_point(cell);
  std::replace(with_point.begin(), with_point.end(), ',', '.');
  const bool decimal_comma = parse_cell(with_point).kind == Cell::Kind::number;
  fail(Error::Kind::data, place.describe(), ": ", shown(cell), " is not a number; ",
       decimal_comma ? "write a point instead of the comma" : "correct it",
       advice.or_drop(place.column));
}

class CsvReader final : public TableReader {
 public:
  CsvReader(std::unique_ptr<ByteSource> source, const std::string& name, char delimiter,
            const ReadOptions& options)
      : file_(name),
        refuse_missing_(options.missing == "error"),
        advice_(options.advice),
        scanner_(std::move(source), name, delimiter),
        header_(read_header(scanner_, name, options.header_optional)),
        plan_(plan_columns(name, header_.names, options)) {}

  const std::vector<std::string>& columns() const override { return plan_.numbers; }

  std::optional<Table> next(int64_t max_rows) override {
    check(max_rows > 0, "a block must have at least one row, got ", max_rows);
    Block block(plan_);
    while (block.rows < max_rows && next_row()) add_row(block);
    check_data(rows_ > 0, file_, " has a header but no rows");
    if (block.rows == 0) return std::nullopt;
    return std::move(block).table(plan_);
  }

 private:
  /// Blank lines are nothing at the end of a file and a doubt anywhere else.
  bool next_row() {
    if (rows_ == 0 && header_.is_row) return true;
    int64_t blank_line = 0;
    while (scanner_.next()) {
      if (scanner_.blank()) {
        if (blank_line == 0) blank_line = scanner_.line();
        continue;
      }
      if (blank_line > 0)
        fail(Error::Kind::data, Place{file_, rows_ + 1, blank_line, ""}.describe(),
             " is blank but rows follow; delete the line, or write NA for a missing value");
      return true;
    }
    return false;
  }

  void add_row(Block& block) {
    ++rows_;
    const auto& cells = scanner_.cells();
    if (cells.size() != header_.names.size())
      fail(Error::Kind::data, Place{file_, rows_, scanner_.line(), ""}.describe(), " has ",
           cells.size(), cells.size() == 1 ? " cell" : " cells", " but the header has ",
           header_.names.size(), "; check the delimiters (",
           scanner_.delimiter() == '\t' ? "tab" : std::string(1, scanner_.delimiter()),
           ") and quotes of that line");
    const size_t start = block.numbers.size();
    block.numbers.resize(start + plan_.numbers.size());
    for (size_t i = 0; i < cells.size(); ++i) {
      if (const int64_t at = plan_.number_of[i]; at >= 0)
        block.numbers[start + at] = number(cells[i], i, block);
      else if (plan_.text_of[i] >= 0)
        block.texts[plan_.text_of[i]].push_back(text_of(cells[i], i));
    }
    ++block.rows;
  }

  double number(const CsvCell& cell, size_t column, Block& block) const {
    const Cell parsed = parse_cell(cell.text);
    const auto at = static_cast<size_t>(plan_.number_of[column]);
    const auto digits = plan_.exact[at] ? rounded_whole(cell.text) : std::nullopt;
    if (parsed.kind == Cell::Kind::number && !digits) return parsed.value;
    const bool infinite = parsed.kind == Cell::Kind::infinite;
    if (digits || ((infinite || parsed.kind == Cell::Kind::other) && plan_.keeps_words[at])) {
      block.words[at].push_back({block.rows, digits.value_or(std::string(cell.text)), infinite});
      return std::numeric_limits<double>::quiet_NaN();
    }
    if (parsed.kind == Cell::Kind::infinite)
      refuse_infinite(place(column), shown(cell.text), advice_);
    if (parsed.kind == Cell::Kind::other) refuse_text(place(column), cell.text, advice_);
    if (refuse_missing_) refuse_missing(place(column), advice_);
    return parsed.value;
  }

  std::string text_of(const CsvCell& cell, size_t column) const {
    if (is_missing(cell.text)) {
      if (refuse_missing_) refuse_missing(place(column), advice_);
      return "";
    }
    if (!is_utf8(cell.text))
      fail(Error::Kind::data, place(column).describe(), ": ", shown(cell.text),
           " is not UTF-8 text; save the file as UTF-8");
    return std::string(cell.text);
  }

  Place place(size_t column) const {
    return {file_, rows_, scanner_.line(), header_.names[column]};
  }

  std::string file_;
  bool refuse_missing_;
  Advice advice_;
  CsvScanner scanner_;
  Header header_;
  ColumnPlan plan_;
  int64_t rows_ = 0;
};

}  // namespace

std::unique_ptr<TableReader> read_csv(std::unique_ptr<ByteSource> source, const std::string& name,
                                      char delimiter, const ReadOptions& options) {
  return std::make_unique<CsvReader>(std::move(source), name, delimiter, options);
}

}  // namespace dre
