#include "dre/data/csv_scanner.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "dre/base/error.h"
#include "dre/data/cell.h"
#include "dre/data/place.h"

namespace dre {
namespace {

constexpr size_t first_buffer = size_t{1} << 20;
/// A quote that is never closed would otherwise swallow a file of any size.
constexpr size_t longest_record = size_t{1} << 26;

}  // namespace

CsvScanner::CsvScanner(std::unique_ptr<ByteSource> source, std::string name, char delimiter)
    : source_(std::move(source)), name_(std::move(name)), buffer_(first_buffer) {
  grow();
  skip_byte_order_mark();
  delimiter_ = delimiter != 0 ? delimiter : detect_delimiter();
  for (const char stop : {delimiter_, '\n', '\r'}) stops_[static_cast<unsigned char>(stop)] = true;
}

bool CsvScanner::next() {
  while (!scan_record()) {
    if (at_end_) return false;
    grow();
  }
  return true;
}

/// False when the record is not complete in the buffer, or when nothing is left.
bool CsvScanner::scan_record() {
  if (begin_ == end_) return false;
  spans_.clear();
  size_t at = begin_;
  Step step = Step::more_cells;
  while (step == Step::more_cells) step = scan_cell(at);
  if (step == Step::needs_bytes) return false;
  finish_record(at);
  return true;
}

CsvScanner::Step CsvScanner::scan_cell(size_t& at) {
  size_t start = at;
  while (start < end_ && (buffer_[start] == ' ' || buffer_[start] == '\t') &&
         buffer_[start] != delimiter_)
    ++start;
  if (start < end_ && buffer_[start] == '"') {
    at = start + 1;
    return scan_quoted(at);
  }
  return scan_plain(at);
}

CsvScanner::Step CsvScanner::scan_plain(size_t& at) {
  const size_t start = at;
  const char* bytes = buffer_.data();
  while (at < end_ && !stops_[static_cast<unsigned char>(bytes[at])]) ++at;
  if (at == end_ && !at_end_) return Step::needs_bytes;
  spans_.push_back({start, at, false, false});
  return scan_separator(at);
}

CsvScanner::Step CsvScanner::scan_quoted(size_t& at) {
  const size_t start = at;
  bool doubled = false;
  while (true) {
    const void* quote = at < end_ ? std::memchr(buffer_.data() + at, '"', end_ - at) : nullptr;
    if (quote == nullptr) {
      if (!at_end_) return Step::needs_bytes;
      refuse(line_at(start), "a quoted cell is never closed; close the quote or remove it");
    }
    at = static_cast<size_t>(static_cast<const char*>(quote) - buffer_.data()) + 1;
    if (at == end_ && !at_end_) return Step::needs_bytes;
    if (at == end_ || buffer_[at] != '"') break;
    doubled = true;
    ++at;
  }
  spans_.push_back({start, at - 1, true, doubled});
  while (at < end_ && (buffer_[at] == ' ' || buffer_[at] == '\t') && buffer_[at] != delimiter_)
    ++at;
  if (at == end_ && !at_end_) return Step::needs_bytes;
  return scan_separator(at);
}

/// `at` stands behind a cell.
CsvScanner::Step CsvScanner::scan_separator(size_t& at) {
  if (at == end_) return Step::record_ends;
  const char separator = buffer_[at];
  if (separator == '\r') {
    if (at + 1 == end_ && !at_end_) return Step::needs_bytes;
    if (at + 1 < end_ && buffer_[at + 1] != '\n')
      refuse(line_at(at),
             "a carriage return stands without a newline; save the file with Unix or "
             "Windows line ends");
    at = std::min(at + 2, end_);
    return Step::record_ends;
  }
  if (separator != delimiter_ && separator != '\n')
    refuse(line_at(at), text("text follows a closing quote, ",
                             shown({buffer_.data() + at, std::min<size_t>(end_ - at, 10)}),
                             "; write a quote inside quotes twice"));
  ++at;
  return separator == '\n' ? Step::record_ends : Step::more_cells;
}

void CsvScanner::finish_record(size_t end) {
  line_ = next_line_;
  const char* first = buffer_.data() + begin_;
  if (has_nul_)
    if (const void* nul = std::memchr(first, 0, end - begin_))
      refuse(line_at(static_cast<size_t>(static_cast<const char*>(nul) - buffer_.data())),
             "there is a NUL byte, so this is no text file, or UTF-16; save it as UTF-8 text");
  next_line_ = line_at(end);
  cells_.clear();
  for (const Span& span : spans_) {
    if (span.quoted) {
      cells_.push_back({unquoted(span), true});
    } else {
      cells_.push_back({trimmed({buffer_.data() + span.begin, span.end - span.begin}), false});
    }
  }
  begin_ = end;
}

/// Doubled quotes become single ones in place: the record is complete and not read again.
std::string_view CsvScanner::unquoted(const Span& span) {
  char* first = buffer_.data() + span.begin;
  const size_t length = span.end - span.begin;
  if (!span.doubled) return {first, length};
  size_t kept = 0;
  for (size_t i = 0; i < length; ++i) {
    first[kept++] = first[i];
    if (first[i] == '"') ++i;
  }
  return {first, kept};
}

/// Moves the unfinished record to the front and reads more bytes behind it.
void CsvScanner::grow() {
  std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
  end_ -= begin_;
  begin_ = 0;
  if (end_ == buffer_.size()) {
    if (end_ >= longest_record)
      refuse(next_line_, text("the row that begins here is longer than ", longest_record >> 20,
                              " MiB; is a quote left open?"));
    buffer_.resize(2 * buffer_.size());
  }
  const size_t got = source_->read(buffer_.data() + end_, buffer_.size() - end_);
  has_nul_ = has_nul_ || std::memchr(buffer_.data() + end_, 0, got) != nullptr;
  end_ += got;
  at_end_ = end_ < buffer_.size();
}

void CsvScanner::skip_byte_order_mark() {
  const std::string_view start(buffer_.data(), std::min<size_t>(end_, 6));
  if (start.starts_with("\xEF\xBB\xBF")) begin_ = 3;
  check_data(!start.starts_with("\xFF\xFE") && !start.starts_with("\xFE\xFF"), name_,
             " is UTF-16 text; save it as UTF-8");
  check_data(!start.starts_with("\x1F\x8B"), name_,
             " is a gzip file, not text; unpack it or let its name end in .csv.gz");
  check_data(!start.starts_with("PK\x03\x04"), name_,
             " is a zip file (npz or a spreadsheet), not text; export it as csv");
  check_data(!start.starts_with("\x93NUMPY"), name_,
             " is an npy file, not text; let its name end in .npy");
}

char CsvScanner::detect_delimiter() const {
  int64_t commas = 0, semicolons = 0, tabs = 0;
  bool quoted = false;
  for (size_t at = begin_; at < end_; ++at) {
    const char letter = buffer_[at];
    if (letter == '"') quoted = !quoted;
    if (quoted) continue;
    if (letter == '\n') break;
    commas += letter == ',';
    semicolons += letter == ';';
    tabs += letter == '\t';
  }
  if (commas > 0 || (semicolons == 0 && tabs == 0)) return ',';
  return semicolons >= tabs ? ';' : '\t';
}

int64_t CsvScanner::line_at(size_t position) const {
  return next_line_ + std::count(buffer_.data() + begin_, buffer_.data() + position, '\n');
}

void CsvScanner::refuse(int64_t line, const std::string& what) const {
  fail(Error::Kind::data, Place{name_, 0, line, ""}.describe(), ": ", what);
}

}  // namespace dre
