#include "dre/data/frames_by_value.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "dre/base/error.h"
#include "dre/base/names.h"
#include "dre/data/place.h"

namespace dre {

FramesByValue::FramesByValue(std::string file, std::vector<std::string> columns,
                             const std::string& column, const FrameOptions& options)
    : file_(std::move(file)), columns_(std::move(columns)), options_(options) {
  const auto found = std::find(columns_.begin(), columns_.end(), column);
  check(found != columns_.end(), "no column ", shown(column), " among ", listed(columns_));
  by_ = static_cast<size_t>(found - columns_.begin());
  options_.categories.push_back(column);
}

void FramesByValue::add(const Table& block) {
  const Tensor numbers = block.values.select(1, static_cast<int64_t>(by_)).contiguous();
  const auto number = numbers.accessor<double, 1>();
  const auto& words = block.words[by_];
  auto word = words.begin();
  std::vector<size_t> place;
  for (int64_t i = 0; i < block.rows(); ++i) {
    const bool is_word = word != words.end() && word->row == i;
    const int64_t file_row = options_.rows_before + i + 1;
    place.push_back(is_word ? place_of((word++)->text, file_row) : place_of(number[i], file_row));
  }
  for (size_t k = 0; k < builders_.size(); ++k) {
    std::vector<bool> mine;
    for (const size_t p : place) mine.push_back(p == k);
    builders_[k].add(block, mine);
  }
  options_.rows_before += block.rows();
}

size_t FramesByValue::place_of(double number, int64_t file_row) {
  check_data(!std::isnan(number), where(file_row),
             ": the value is missing; every row must belong to a side");
  return place_of(number_text(number), file_row);
}

size_t FramesByValue::place_of(const std::string& value, int64_t file_row) {
  const auto found = std::find(values_.begin(), values_.end(), value);
  if (found != values_.end()) return static_cast<size_t>(found - values_.begin());
  check_data(is_utf8(value), where(file_row), ": the value ", shown(value),
             " is not UTF-8 text; save the file as UTF-8");
  check_data(values_.size() < 2, where(file_row), ": ", shown(value), " is a third value after ",
             listed(values_), "; the column must have two, one for each side");
  values_.push_back(value);
  builders_.emplace_back(file_, columns_, options_);
  return values_.size() - 1;
}

std::string FramesByValue::where(int64_t file_row) const {
  return Place{file_, file_row, 0, columns_[by_]}.describe();
}

std::map<std::string, Frame> FramesByValue::finish() && {
  check_data(values_.size() == 2, "column ", shown(columns_[by_]), " of ", file_,
             " must have two values, one for each side; it has ",
             values_.empty() ? "none" : text("only ", listed(values_)));
  std::map<std::string, Frame> frames;
  for (size_t k = 0; k < values_.size(); ++k) {
    Frame frame = std::move(builders_[k]).finish();
    frame.columns.erase(frame.columns.begin() + static_cast<std::ptrdiff_t>(by_));
    frames.emplace(values_[k], std::move(frame));
  }
  return frames;
}

}  // namespace dre
