#include "dre/data/arrays_reader.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "dre/base/error.h"
#include "dre/data/columns.h"
#include "dre/data/frame.h"
#include "dre/data/zip.h"
#include "dre/data/zip_entry.h"

namespace dre {
namespace {

struct NamedArray {
  std::string name;
  NpyArray array;
};

/// Numbers decoded at a time: memory stays small whatever the shape claims.
constexpr int64_t slice_values = int64_t{1} << 16;

void name_columns(const std::string& stem, int64_t count, std::vector<std::string>& names) {
  for (int64_t i = 0; i < count; ++i) names.push_back(text(stem, i));
}

std::vector<std::string> column_names(const std::vector<NamedArray>& arrays) {
  std::vector<std::string> names;
  for (const auto& [name, array] : arrays) {
    if (array.is_vector() && !name.empty())
      names.push_back(name);
    else
      name_columns(arrays.size() == 1 ? "x" : name, array.columns(), names);
  }
  return names;
}

class ArraysReader final : public TableReader {
 public:
  ArraysReader(std::string file, std::vector<NamedArray> arrays, const ReadOptions& options)
      : file_(std::move(file)),
        refuse_missing_(options.missing == "error"),
        advice_(options.advice),
        arrays_(std::move(arrays)),
        names_(column_names(arrays_)),
        plan_(plan_columns(file_, names_, options)),
        rows_(arrays_.front().array.rows()) {}

  const std::vector<std::string>& columns() const override { return plan_.numbers; }

  std::optional<Table> next(int64_t max_rows) override {
    check(max_rows > 0, "a block must have at least one row, got ", max_rows);
    Block block(plan_);
    const int64_t count = std::min(max_rows, rows_ - row_);
    const auto width = static_cast<int64_t>(names_.size());
    const int64_t slice = std::max<int64_t>(1, slice_values / width);
    while (block.rows < count) add_rows(std::min(slice, count - block.rows), block);
    if (block.rows == 0) return std::nullopt;
    return std::move(block).table(plan_);
  }

 private:
  void add_rows(int64_t count, Block& block) {
    const auto width = static_cast<int64_t>(names_.size());
    slice_.resize(static_cast<size_t>(count * width));
    int64_t offset = 0;
    for (auto& [name, array] : arrays_) {
      array.read(count, slice_.data() + offset, width);
      offset += array.columns();
    }
    const auto kept = static_cast<int64_t>(plan_.numbers.size());
    const size_t start = block.numbers.size();
    block.numbers.resize(start + static_cast<size_t>(count * kept));
    for (int64_t i = 0; i < count; ++i, ++row_) {
      const double* row = slice_.data() + i * width;
      double* out = block.numbers.data() + start + i * kept;
      for (int64_t column = 0; column < width; ++column) add_cell(row[column], column, out, block);
    }
    block.rows += count;
  }

  void add_cell(double value, int64_t column, double* row, Block& block) const {
    const int64_t number_at = plan_.number_of[column], text_at = plan_.text_of[column];
    if (number_at < 0 && text_at < 0) return;
    if (!std::isfinite(value)) check_odd(value, column);
    if (number_at >= 0)
      row[number_at] = value;
    else
      block.texts[text_at].push_back(std::isnan(value) ? "" : number_text(value));
  }

  void check_odd(double value, int64_t column) const {
    const Place place{file_, row_ + 1, 0, names_[column]};
    if (std::isinf(value)) refuse_infinite(place, value > 0 ? "Inf" : "-Inf", advice_);
    if (refuse_missing_) refuse_missing(place, advice_);
  }

  std::string file_;
  bool refuse_missing_;
  Advice advice_;
  std::vector<NamedArray> arrays_;
  std::vector<std::string> names_;
  ColumnPlan plan_;
  int64_t rows_, row_ = 0;
  std::vector<double> slice_;
};

/// "a.npy" is the array "a".
std::string array_name(const ZipEntry& entry, const std::string& path) {
  constexpr std::string_view ending = ".npy";
  check_data(entry.name.ends_with(ending), path, " holds ", shown(entry.name),
             ", which is not an npy array; write it with numpy.savez");
  return entry.name.substr(0, entry.name.size() - ending.size());
}

void check_equal_rows(const std::vector<NamedArray>& arrays, const std::string& path) {
  for (const auto& [name, array] : arrays)
    check_data(array.rows() == arrays.front().array.rows(), path, ": array ",
               shown(arrays.front().name), " has ", arrays.front().array.rows(), " rows but array ",
               shown(name), " has ", array.rows(), "; all arrays need the same number of rows");
}

}  // namespace

std::unique_ptr<TableReader> read_npy(NpySource source, const std::string& name,
                                      const ReadOptions& options) {
  std::vector<NamedArray> arrays;
  arrays.push_back({"", NpyArray(std::move(source), name)});
  return std::make_unique<ArraysReader>(name, std::move(arrays), options);
}

std::unique_ptr<TableReader> open_npz(const std::string& path, const ReadOptions& options) {
  const auto file = std::make_shared<InputFile>(path);
  std::vector<NamedArray> arrays;
  for (const ZipEntry& entry : read_zip_directory(*file)) {
    const std::string name = array_name(entry, path);
    NpySource source{open_zip_entry(file, entry), entry.size, nullptr};
    arrays.push_back({name, NpyArray(std::move(source), text(path, ", array ", shown(name)))});
  }
  check_data(!arrays.empty(), path, " is an npz file without arrays");
  check_equal_rows(arrays, path);
  return std::make_unique<ArraysReader>(path, std::move(arrays), options);
}

}  // namespace dre
