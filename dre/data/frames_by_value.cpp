#include "dre/data/frames_by_value.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "dre/base/error.h"
#include "dre/base/names.h"
#include "dre/data/place.h"

namespace dre {
namespace {

FrameOptions with_category(FrameOptions options, const std::string& column) {
  options.categories.push_back(column);
  return options;
}

size_t place_in(const std::vector<std::string>& columns, const std::string& column) {
  const auto found = std::find(columns.begin(), columns.end(), column);
  check(found != columns.end(), "no column ", shown(column), " among ", listed(columns));
  return static_cast<size_t>(found - columns.begin());
}

}  // namespace

FramesByValue::FramesByValue(std::string file, std::vector<std::string> columns,
                             const std::string& column, const FrameOptions& options)
    : file_(std::move(file)),
      columns_(std::move(columns)),
      by_(place_in(columns_, column)),
      builder_(file_, columns_, with_category(options, column)),
      file_row_(options.rows_before) {}

void FramesByValue::add(const Table& block) {
  const Tensor numbers = block.values.select(1, static_cast<int64_t>(by_)).contiguous();
  const auto number = numbers.accessor<double, 1>();
  const auto& words = block.words[by_];
  auto word = words.begin();
  std::vector<size_t> part;
  for (int64_t i = 0; i < block.rows(); ++i) {
    ++file_row_;
    const bool is_word = word != words.end() && word->row == i;
    part.push_back(is_word ? part_of((word++)->text) : part_of(number[i]));
  }
  builder_.add(block, part);
}

size_t FramesByValue::part_of(double number) {
  if (std::isnan(number))
    fail(Error::Kind::data, where(), ": the value is missing; every row must belong to a side");
  return part_of(number_text(number));
}

size_t FramesByValue::part_of(const std::string& value) {
  const auto found = std::find(values_.begin(), values_.end(), value);
  if (found != values_.end()) return static_cast<size_t>(found - values_.begin());
  check_data(is_utf8(value), where(), ": the value ", shown(value),
             " is not UTF-8 text; save the file as UTF-8");
  check_data(values_.size() < 2, where(), ": ", shown(value), " is a third value after ",
             listed(values_), "; the column must have two, one for each side");
  values_.push_back(value);
  return values_.size() - 1;
}

std::string FramesByValue::where() const {
  return Place{file_, file_row_, 0, columns_[by_]}.describe();
}

std::map<std::string, Frame> FramesByValue::finish() && {
  check_data(values_.size() == 2, "column ", shown(columns_[by_]), " of ", file_,
             " must have two values, one for each side; it has ",
             values_.empty() ? "none" : text("only ", shown(values_[0])));
  std::vector<Frame> parts = std::move(builder_).finish_parts();
  std::map<std::string, Frame> frames;
  for (size_t k = 0; k < parts.size(); ++k) {
    auto& columns = parts[k].columns;
    columns.erase(columns.begin() + static_cast<std::ptrdiff_t>(by_));
    frames.emplace(values_[k], std::move(parts[k]));
  }
  return frames;
}

}  // namespace dre
