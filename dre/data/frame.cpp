#include "dre/data/frame.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "dre/base/error.h"
#include "dre/base/names.h"
#include "dre/data/columns.h"
#include "dre/data/date.h"
#include "dre/data/place.h"

namespace dre {
namespace {

using Kind = TypedColumn::Kind;

constexpr int32_t missing_code = -1;
/// Beyond so many texts, most of them different, a column is taken for an identifier.
constexpr size_t most_texts = 100'000;
/// A column with so few words a number, and more than a few numbers, is numeric with typing errors.
constexpr int64_t numbers_a_word = 20;
constexpr size_t few_levels = 50;

template <class Value>
void put(std::vector<Value>& values, int64_t place, Value value) {
  const auto at = static_cast<size_t>(place);
  if (at == values.size())
    values.push_back(value);
  else
    values[at] = value;
}

int32_t code_of(const std::string& text, std::unordered_map<std::string, int32_t>& places,
                std::vector<std::string>& levels) {
  const auto [found, is_new] = places.emplace(text, static_cast<int32_t>(levels.size()));
  if (is_new) levels.push_back(text);
  return found->second;
}

std::string text_of(Kind kind, double value) {
  return kind == Kind::date ? date_text(value) : number_text(value);
}

template <class Value>
std::vector<Value> picked(const std::vector<Value>& values, const Tensor& rows) {
  std::vector<Value> out;
  if (values.empty()) return out;
  const auto row = rows.accessor<int64_t, 1>();
  out.reserve(static_cast<size_t>(rows.size(0)));
  for (int64_t i = 0; i < rows.size(0); ++i) out.push_back(values[static_cast<size_t>(row[i])]);
  return out;
}

}  // namespace

std::string number_text(double value) {
  char digits[32];
  return {digits, std::to_chars(digits, digits + sizeof digits, value).ptr};
}

int64_t TypedColumn::rows() const {
  return static_cast<int64_t>(kind == Kind::category ? codes.size() : numbers.size());
}

int64_t TypedColumn::missing() const {
  if (kind == Kind::category) return std::count(codes.begin(), codes.end(), missing_code);
  return std::count_if(numbers.begin(), numbers.end(), [](double x) { return std::isnan(x); });
}

TypedColumn TypedColumn::as_category() && {
  if (kind == Kind::category) return std::move(*this);
  TypedColumn out{std::move(name), Kind::category, {}, {}, {}};
  std::unordered_map<std::string, int32_t> places;
  out.codes.reserve(numbers.size());
  for (const double value : numbers)
    out.codes.push_back(std::isnan(value) ? missing_code
                                          : code_of(text_of(kind, value), places, out.levels));
  numbers = {};
  return out;
}

TypedColumn TypedColumn::take(const Tensor& rows) const {
  return {name, kind, picked(numbers, rows), picked(codes, rows), levels, id_like};
}

Frame Frame::take(const Tensor& rows) const {
  Frame out{{}, rows.size(0), rows_read, sampled, picked(file_rows, rows)};
  for (const auto& column : columns) out.columns.push_back(column.take(rows));
  return out;
}

FrameBuilder::FrameBuilder(std::string file, const std::vector<std::string>& columns,
                           const FrameOptions& options)
    : file_(std::move(file)),
      options_(options),
      generator_(Context{torch::kCPU, torch::kFloat32, options.seed}.generator("sampled rows")) {
  for (const auto& name : columns) {
    Growing growing{{name, Kind::number, {}, {}, {}}};
    if (contains(options.categories, name)) growing.column.kind = Kind::category;
    if (contains(options.dates, name)) growing.column.kind = Kind::date;
    growing.fixed = growing.column.kind != Kind::number;
    columns_.push_back(std::move(growing));
  }
}

/// Where the next rows go: the end, the place of an earlier row, or nowhere (-1). Every row of the
/// file has the same chance to stay.
std::vector<int64_t> FrameBuilder::place_rows(int64_t count) {
  std::vector<int64_t> places(static_cast<size_t>(count));
  Tensor chance;
  for (int64_t i = 0; i < count; ++i) {
    if (options_.max_rows == 0 || rows_ < options_.max_rows) {
      places[static_cast<size_t>(i)] = rows_++;
      continue;
    }
    if (!chance.defined()) chance = uniform({count}, torch::kFloat64, generator_);
    const auto place = static_cast<int64_t>(chance.data_ptr<double>()[i] *
                                            static_cast<double>(rows_read_ + i + 1));
    places[static_cast<size_t>(i)] = place < options_.max_rows ? place : -1;
  }
  return places;
}

void FrameBuilder::add(const Table& block) {
  check(block.columns.size() == columns_.size() && block.words.size() == columns_.size(),
        "expected a block of ", columns_.size(), " columns with its words");
  const Tensor values = block.values.contiguous();
  const auto width = static_cast<int64_t>(columns_.size());
  const std::vector<int64_t> places = place_rows(block.rows());
  for (size_t j = 0; j < columns_.size(); ++j)
    add_column(columns_[j], values.data_ptr<double>() + j, width, block.words[j], places);
  for (const int64_t place : places) {
    ++rows_read_;
    if (place >= 0) put(file_rows_, place, rows_read_);
  }
}

void FrameBuilder::add_column(Growing& growing, const double* values, int64_t stride,
                              const std::vector<Word>& words, const std::vector<int64_t>& places) {
  auto word = words.begin();
  for (size_t i = 0; i < places.size(); ++i) {
    const bool is_word = word != words.end() && word->row == static_cast<int64_t>(i);
    if (places[i] >= 0) {
      if (is_word)
        put_word(growing, places[i], *word, rows_read_ + static_cast<int64_t>(i) + 1);
      else
        put_number(growing, places[i], values[static_cast<int64_t>(i) * stride]);
    }
    if (is_word) ++word;
  }
}

void FrameBuilder::put_number(Growing& growing, int64_t place, double value) {
  TypedColumn& column = growing.column;
  const bool missing = std::isnan(value);
  growing.numbers += missing ? 0 : 1;
  if (column.kind == Kind::date && !missing) {
    check_data(!growing.fixed, file_, ": column ", shown(column.name), " must hold dates, got ",
               number_text(value));
    become_category(growing);
  }
  if (column.kind != Kind::category)
    put(column.numbers, place, value);
  else if (missing)
    put(column.codes, place, missing_code);
  else
    put_text(growing, place, number_text(value));
}

void FrameBuilder::put_word(Growing& growing, int64_t place, const Word& word, int64_t file_row) {
  TypedColumn& column = growing.column;
  if (word.infinite && column.kind == Kind::number) {
    if (growing.first_infinite_row < 0) growing.first_infinite_row = file_row;
    if (growing.first_infinite.empty()) growing.first_infinite = word.text;
    put(column.numbers, place, double{NAN});
    return;
  }
  if (growing.words++ == 0) {
    growing.first_word_row = file_row;
    growing.first_word = word.text;
  }
  const auto date = column.kind == Kind::category ? std::nullopt : parse_date(word.text);
  if (date && growing.numbers == 0) {
    column.kind = Kind::date;
    ++growing.dates;
    put(column.numbers, place, *date);
    return;
  }
  if (growing.fixed && column.kind == Kind::date)
    fail(Error::Kind::data, Place{file_, file_row, 0, column.name}.describe(), ": ",
         shown(word.text), " is not a date; write it as 2024-03-05 or 2024-03-05T14:30:00");
  become_category(growing);
  put_text(growing, place, word.text);
}

void FrameBuilder::become_category(Growing& growing) {
  if (growing.column.kind == Kind::category) return;
  growing.column = std::move(growing.column).as_category();
  for (size_t i = 0; i < growing.column.levels.size(); ++i)
    growing.places.emplace(growing.column.levels[i], static_cast<int32_t>(i));
}

void FrameBuilder::put_text(Growing& growing, int64_t place, const std::string& text) {
  TypedColumn& column = growing.column;
  if (column.id_like) {
    put(column.codes, place, int32_t{0});
    return;
  }
  put(column.codes, place, code_of(text, growing.places, column.levels));
  const auto seen = static_cast<size_t>(growing.numbers + growing.words);
  if (column.levels.size() <= most_texts || column.levels.size() * 2 < seen) return;
  column.id_like = true;
  column.levels = {};
  growing.places = {};
}

/// A few words in a column of numbers are errors that must not turn it into thousands of
/// categories.
void FrameBuilder::judge(const Growing& growing) const {
  const TypedColumn& column = growing.column;
  const auto place = [&](int64_t row) { return Place{file_, row, 0, column.name}; };
  if (growing.first_infinite_row >= 0 && column.kind != Kind::category)
    refuse_infinite(place(growing.first_infinite_row), shown(growing.first_infinite),
                    options_.advice);
  if (growing.fixed || column.kind != Kind::category || growing.words == 0) return;
  const bool numeric = growing.numbers >= numbers_a_word * growing.words &&
                       (column.id_like || column.levels.size() > few_levels);
  if (numeric)
    fail(Error::Kind::data, place(growing.first_word_row).describe(), ": ",
         shown(growing.first_word), " is not a number, but most other cells of the column are (",
         growing.numbers, " of ", growing.numbers + growing.words,
         "); correct it, write NA for a missing value, or name the column in --categorical",
         options_.advice.or_drop(column.name));
}

Frame FrameBuilder::finish() && {
  Frame frame{{}, rows_, rows_read_, rows_ < rows_read_, std::move(file_rows_)};
  for (auto& growing : columns_) {
    judge(growing);
    frame.columns.push_back(std::move(growing.column));
  }
  return frame;
}

}  // namespace dre
