/// Columns with types: numbers, dates and categories, from tables whose cells are numbers or words.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "dre/data/place.h"
#include "dre/data/table.h"

namespace dre {

struct TypedColumn {
  enum class Kind { number, date, category };

  std::string name;
  Kind kind = Kind::number;
  std::vector<double> numbers;      ///< of numbers and dates (days since 1970-01-01); NaN: missing
  std::vector<int32_t> codes;       ///< of categories: place in `levels`, or -1: missing
  std::vector<std::string> levels;  ///< distinct, bytes as they stand in the file
  /// Nearly every text was different: codes and levels were given up.
  bool id_like = false;

  int64_t rows() const;
  int64_t missing() const;

  /// Numbers and dates as categories, written as text in their shortest form.
  TypedColumn as_category() &&;
};

struct Frame {
  std::vector<TypedColumn> columns;
  int64_t rows = 0;                     ///< that are kept
  int64_t rows_read = 0;                ///< that the file has, or has of these
  bool sampled = false;                 ///< whether these were too many to keep them all
  std::vector<int64_t> file_rows = {};  ///< number of each kept row in the file, from 1

  /// Some of the rows, in this order.
  Frame take(const std::vector<int64_t>& places) const;
};

/// A number in the text that stands for it in a category: "1.0" and "1" are the same.
std::string number_text(double value);

struct FrameOptions {
  std::vector<std::string> categories;  ///< columns that are categories whatever they hold
  std::vector<std::string> dates;       ///< columns that hold dates; anything else is refused
  int64_t max_rows = 0;                 ///< keep a random sample of so many rows; 0: all
  uint64_t seed = 0;                    ///< of that sample
  std::string sample = "rows";          ///< its name: another name, other rows
  int64_t rows_before = 0;              ///< rows of the file that come before the first block
  Advice advice = {};                   ///< of errors about cells
};

/// Gathers blocks of rows. A column of numbers alone is numeric, one of dates alone holds dates,
/// and anything else is categories; then numbers and dates in it become text in their shortest
/// form. Memory is bounded by `max_rows` (of each part), and that of texts by giving up columns of
/// more than 100 000 texts of which most are different.
class FrameBuilder final {
 public:
  FrameBuilder(std::string file, const std::vector<std::string>& columns,
               const FrameOptions& options);

  /// A block whose words were kept, in the columns of the constructor. `part`: number of the part
  /// of the table to which each row belongs, 0, 1, ...; nothing given: there is one part only.
  void add(const Table& block, const std::vector<size_t>& part = {});

  /// Data errors: a column of numbers with a few words among them, infinite numbers.
  Frame finish() &&;

  /// Each part as a frame of its own, with the kinds and levels that the columns have as a whole.
  std::vector<Frame> finish_parts() &&;

 private:
  /// Cells of one form.
  struct Seen {
    int64_t count = 0, first_row = 0;  ///< of the file
    std::string first = {};
    std::set<std::string> some = {};  ///< different ones, one more than would be few marks

    void add(const std::string& text, int64_t file_row);
  };

  struct Growing {
    TypedColumn column;
    bool fixed = false;  ///< the kind was given
    std::unordered_map<std::string, int32_t> places = {};
    Seen numbers = {}, dates = {}, words = {}, infinite = {};
    /// By place: numbers too large to be one, until the column is known to hold categories.
    std::map<int64_t, std::string> infinite_texts = {};
  };

  /// Rows that belong together are sampled apart from the others.
  struct Part {
    int64_t rows_read = 0;
    std::vector<int64_t> places = {};  ///< of the rows that are kept
  };

  std::vector<int64_t> place_rows(int64_t count, const std::vector<size_t>& part);
  void add_column(Growing& growing, const double* values, int64_t stride,
                  const std::vector<Word>& words, const std::vector<int64_t>& places);
  void put_number(Growing& growing, int64_t place, double value, int64_t file_row);
  void put_word(Growing& growing, int64_t place, const Word& word, int64_t file_row);
  void become_category(Growing& growing);
  void put_text(Growing& growing, int64_t place, const std::string& text);
  void judge(const Growing& growing) const;
  void refuse_exceptions(const Growing& growing, const Seen& rule, const char* what) const;

  std::string file_;
  FrameOptions options_;
  std::vector<Growing> columns_;
  std::vector<Part> parts_{1};
  int64_t rows_ = 0;      ///< that are kept
  int64_t file_row_ = 0;  ///< the last row of the file that was seen, from 1
  std::vector<int64_t> file_rows_;
  at::Generator generator_;
};

}  // namespace dre
