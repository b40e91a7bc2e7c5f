#include "dre/data/npy_array.h"

#include <utility>

#include "dre/base/error.h"

namespace dre {
namespace {

/// Names of columns take memory too; wider arrays are images or mistakes.
constexpr int64_t most_columns = int64_t{1} << 20;

std::string shape_text(const std::vector<int64_t>& shape) {
  std::string out = "(";
  for (size_t i = 0; i < shape.size(); ++i) out += text(i > 0 ? ", " : "", shape[i]);
  return out + (shape.size() == 1 ? ",)" : ")");
}

}  // namespace

NpyArray::NpyArray(NpySource source, std::string where)
    : where_(std::move(where)), source_(std::move(source)) {
  header_ = read_npy_header(*source_.bytes, where_);
  const size_t dimensions = header_.shape.size();
  check_data(dimensions == 1 || dimensions == 2, where_, " has the shape ",
             shape_text(header_.shape),
             "; a table needs (rows, columns), as array.reshape(len(array), "
             "-1) gives");
  if (source_.size >= 0) check_bytes(source_.size - header_.header_bytes);
  check_data(rows() > 0, where_, " has no rows: its shape is ", shape_text(header_.shape));
  check_data(columns() > 0, where_, " has no columns: its shape is ", shape_text(header_.shape));
  check_data(columns() <= most_columns, where_, " has ", columns(), " columns; at most ",
             most_columns, " can be read");
  header_.fortran = header_.fortran && rows() > 1 && columns() > 1;
  data_offset_ = header_.header_bytes;
  if (header_.fortran && !source_.file) {
    source_.file = spool(*source_.bytes, where_);
    data_offset_ = 0;
    check_bytes(source_.file->size());
  }
}

void NpyArray::check_bytes(int64_t there) const {
  check_data(there == header_.data_bytes, where_, " needs ", header_.data_bytes,
             " bytes of data for its shape ", shape_text(header_.shape), ", but has ", there,
             there < header_.data_bytes ? "; it is truncated or damaged"
                                        : "; it is damaged or holds a second array");
}

void NpyArray::read(int64_t count, double* out, int64_t stride) {
  if (header_.fortran)
    read_columns(count, out, stride);
  else
    read_rows(count, out, stride);
  row_ += count;
  if (row_ == rows() && !header_.fortran) check_end();
}

void NpyArray::read_rows(int64_t count, double* out, int64_t stride) {
  const int64_t width = columns() * header_.type->size;
  buffer_.resize(static_cast<size_t>(count * width));
  const size_t got = source_.bytes->read(buffer_.data(), buffer_.size());
  if (got != buffer_.size()) check_bytes(row_ * width + static_cast<int64_t>(got));
  for (int64_t row = 0; row < count; ++row)
    header_.type->decode(buffer_.data() + row * width, columns(), header_.swap, out + row * stride,
                         1);
}

void NpyArray::read_columns(int64_t count, double* out, int64_t stride) {
  const int64_t size = header_.type->size;
  buffer_.resize(static_cast<size_t>(count * size));
  for (int64_t column = 0; column < columns(); ++column) {
    const int64_t first = column * rows() + row_;
    source_.file->read_exactly(data_offset_ + first * size, buffer_.data(), buffer_.size());
    header_.type->decode(buffer_.data(), count, header_.swap, out + column, stride);
  }
}

void NpyArray::check_end() {
  char extra = 0;
  if (source_.bytes->read(&extra, 1) > 0) check_bytes(header_.data_bytes + 1);
}

}  // namespace dre
