#include "dre/data/frame.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include "dre/base/error.h"
#include "dre/base/names.h"
#include "dre/data/columns.h"
#include "dre/data/date.h"
#include "dre/data/exceptions.h"
#include "dre/data/place.h"

namespace dre {
namespace {

using Kind = TypedColumn::Kind;

constexpr int32_t missing_code = -1;
/// Beyond so many texts, most of them different, a column is taken for an identifier.
constexpr size_t most_texts = 100'000;
constexpr const char* as_dates_are_written = "; write it as 2024-03-05 or 2024-03-05T14:30:00";

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

/// Those at `places`; nothing of nothing.
template <class Value>
std::vector<Value> picked(const std::vector<Value>& values, const std::vector<int64_t>& places) {
  std::vector<Value> out;
  if (values.empty()) return out;
  out.reserve(places.size());
  for (const int64_t place : places) out.push_back(values[static_cast<size_t>(place)]);
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

Frame Frame::take(const std::vector<int64_t>& places) const {
  Frame frame{
      {}, static_cast<int64_t>(places.size()), rows_read, sampled, picked(file_rows, places)};
  for (const auto& column : columns)
    frame.columns.push_back({column.name, column.kind, picked(column.numbers, places),
                             picked(column.codes, places), column.levels, column.id_like});
  return frame;
}

FrameBuilder::FrameBuilder(std::string file, const std::vector<std::string>& columns,
                           const FrameOptions& options)
    : file_(std::move(file)),
      options_(options),
      file_row_(options.rows_before),
      generator_(Context{torch::kCPU, torch::kFloat32, options.seed}.generator("sampled " +
                                                                               options.sample)) {
  for (const auto& name : columns) {
    Growing growing{{name, Kind::number, {}, {}, {}}};
    if (contains(options.categories, name)) growing.column.kind = Kind::category;
    if (contains(options.dates, name)) growing.column.kind = Kind::date;
    growing.fixed = growing.column.kind != Kind::number;
    columns_.push_back(std::move(growing));
  }
}

/// Where the next rows go: the end, the place of an earlier row of their part, or nowhere (-1).
/// Every row of a part has the same chance to stay.
std::vector<int64_t> FrameBuilder::place_rows(int64_t count, const std::vector<size_t>& part) {
  std::vector<int64_t> places(static_cast<size_t>(count), -1);
  const auto most = static_cast<size_t>(options_.max_rows);
  Tensor chance;
  for (size_t i = 0; i < places.size(); ++i) {
    const size_t number = part.empty() ? 0 : part[i];
    if (number >= parts_.size()) parts_.resize(number + 1);
    auto& [rows_read, kept] = parts_[number];
    ++rows_read;
    if (most == 0 || kept.size() < most) {
      places[i] = rows_++;
      kept.push_back(places[i]);
      continue;
    }
    if (!chance.defined()) chance = uniform({count}, torch::kFloat64, generator_);
    const auto place =
        static_cast<size_t>(chance.data_ptr<double>()[i] * static_cast<double>(rows_read));
    if (place < most) places[i] = kept[place];
  }
  return places;
}

void FrameBuilder::add(const Table& block, const std::vector<size_t>& part) {
  check(block.columns.size() == columns_.size() && block.words.size() == columns_.size(),
        "expected a block of ", columns_.size(), " columns with its words");
  const Tensor values = block.values.contiguous();
  const auto width = static_cast<int64_t>(columns_.size());
  const std::vector<int64_t> places = place_rows(block.rows(), part);
  for (size_t j = 0; j < columns_.size(); ++j)
    add_column(columns_[j], values.data_ptr<double>() + j, width, block.words[j], places);
  for (const int64_t place : places) {
    ++file_row_;
    if (place >= 0) put(file_rows_, place, file_row_);
  }
}

void FrameBuilder::add_column(Growing& growing, const double* values, int64_t stride,
                              const std::vector<Word>& words, const std::vector<int64_t>& places) {
  auto word = words.begin();
  for (size_t i = 0; i < places.size(); ++i) {
    const bool is_word = word != words.end() && word->row == static_cast<int64_t>(i);
    if (places[i] >= 0) {
      const int64_t file_row = file_row_ + static_cast<int64_t>(i) + 1;
      growing.infinite_texts.erase(places[i]);
      if (is_word)
        put_word(growing, places[i], *word, file_row);
      else
        put_number(growing, places[i], values[static_cast<int64_t>(i) * stride], file_row);
    }
    if (is_word) ++word;
  }
}

void FrameBuilder::Seen::add(const std::string& text, int64_t file_row) {
  if (!text.empty() && some.size() <= few_marks) some.insert(text);
  if (count++ > 0) return;
  first_row = file_row;
  first = text;
}

void FrameBuilder::put_number(Growing& growing, int64_t place, double value, int64_t file_row) {
  TypedColumn& column = growing.column;
  const bool missing = std::isnan(value);
  if (!missing) growing.numbers.add(growing.numbers.count == 0 ? number_text(value) : "", file_row);
  if (column.kind == Kind::date && !missing) {
    check_data(!growing.fixed, Place{file_, file_row, 0, column.name}.describe(), ": ",
               number_text(value), " is not a date", as_dates_are_written);
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
    growing.infinite.add(word.text, file_row);
    growing.infinite_texts[place] = word.text;
    put(column.numbers, place, double{NAN});
    return;
  }
  const auto date = parse_date(word.text);
  (date ? growing.dates : growing.words).add(word.text, file_row);
  if (date && column.kind != Kind::category && growing.numbers.count == 0) {
    column.kind = Kind::date;
    put(column.numbers, place, *date);
    return;
  }
  if (growing.fixed && column.kind == Kind::date)
    fail(Error::Kind::data, Place{file_, file_row, 0, column.name}.describe(), ": ",
         shown(word.text), " is not a date", as_dates_are_written);
  become_category(growing);
  // As dates that were read before the column became a category, where it was not one from the
  // start.
  put_text(growing, place, date && !growing.fixed ? date_text(*date) : word.text);
}

void FrameBuilder::become_category(Growing& growing) {
  TypedColumn& column = growing.column;
  if (column.kind == Kind::category) return;
  column = std::move(column).as_category();
  for (size_t i = 0; i < column.levels.size(); ++i)
    growing.places.emplace(column.levels[i], static_cast<int32_t>(i));
  for (const auto& [place, text] : growing.infinite_texts)
    put(column.codes, place, code_of(text, growing.places, column.levels));
  growing.infinite_texts = {};
}

void FrameBuilder::put_text(Growing& growing, int64_t place, const std::string& text) {
  TypedColumn& column = growing.column;
  if (column.id_like) {
    put(column.codes, place, int32_t{0});
    return;
  }
  put(column.codes, place, code_of(text, growing.places, column.levels));
  const auto seen =
      static_cast<size_t>(growing.numbers.count + growing.dates.count + growing.words.count);
  if (column.levels.size() <= most_texts || column.levels.size() * 2 < seen) return;
  column.id_like = true;
  column.levels = {};
  growing.places = {};
}

void FrameBuilder::judge(const Growing& growing) const {
  const TypedColumn& column = growing.column;
  if (growing.infinite.count > 0 && column.kind != Kind::category)
    refuse_infinite(Place{file_, growing.infinite.first_row, 0, column.name},
                    shown(growing.infinite.first), options_.advice);
  if (growing.fixed || column.kind != Kind::category) return;
  if (!column.id_like && column.levels.size() <= few_levels) return;
  refuse_exceptions(growing, growing.numbers, "a number");
  refuse_exceptions(growing, growing.dates, "a date");
}

/// Numbers among dates are not counted apart: they are taken for many different ones.
void FrameBuilder::refuse_exceptions(const Growing& growing, const Seen& rule,
                                     const char* what) const {
  Exceptions all{{file_, std::numeric_limits<int64_t>::max(), 0, growing.column.name}, {}};
  for (const Seen* other : {&growing.numbers, &growing.dates, &growing.words}) {
    if (other == &rule || other->count == 0) continue;
    all.count += other->count;
    all.different += other == &growing.numbers ? few_marks + 1 : other->some.size();
    if (other->first_row > all.first.row) continue;
    all.first.row = other->first_row;
    all.cell = other->first;
  }
  dre::refuse_exceptions(all, what, rule.count, options_.advice);
}

Frame FrameBuilder::finish() && {
  int64_t rows_read = 0;
  for (const auto& part : parts_) rows_read += part.rows_read;
  Frame frame{{}, rows_, rows_read, rows_ < rows_read, std::move(file_rows_)};
  for (auto& growing : columns_) {
    judge(growing);
    frame.columns.push_back(std::move(growing.column));
  }
  return frame;
}

std::vector<Frame> FrameBuilder::finish_parts() && {
  const Frame all = std::move(*this).finish();
  std::vector<Frame> frames;
  for (const auto& [rows_read, places] : parts_) {
    frames.push_back(all.take(places));
    frames.back().rows_read = rows_read;
    frames.back().sampled = frames.back().rows < rows_read;
  }
  return frames;
}

}  // namespace dre
