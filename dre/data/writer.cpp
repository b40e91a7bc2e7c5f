#include "dre/data/writer.h"

#include <charconv>
#include <unordered_set>

#include "dre/base/error.h"
#include "dre/base/names.h"
#include "dre/data/npy.h"
#include "dre/data/output.h"
#include "dre/data/place.h"
#include "dre/data/source.h"

namespace dre {
namespace {

using Columns = std::vector<std::string>;

Tensor checked_rows(const Tensor& rows, int64_t columns) {
  check(rows.dim() == 2 && rows.size(1) == columns && rows.scalar_type() == torch::kFloat64,
        "rows to write must be float64 of shape [n, ", columns, "], got ", rows.scalar_type(),
        " of shape ", rows.sizes());
  return rows.detach().to(torch::kCPU).contiguous();
}

/// Any delimiter a reader may guess is quoted, not only our own.
std::string quoted_if_needed(const std::string& name) {
  const bool plain = name.find_first_of("\"\r\n\t ,;") == std::string::npos;
  if (plain) return name;
  std::string out = "\"";
  for (const char letter : name) out.append(letter == '"' ? 2 : 1, letter);
  return out + '"';
}

class CsvWriter final : public TableWriter {
 public:
  CsvWriter(const std::string& path, const Columns& columns, char delimiter)
      : file_(path), columns_(static_cast<int64_t>(columns.size())), delimiter_(delimiter) {
    std::string header;
    for (const auto& name : columns) {
      if (!header.empty()) header += delimiter_;
      header += quoted_if_needed(name);
    }
    file_.write(header + '\n');
  }

  void write(const Tensor& rows) override {
    const Tensor values = checked_rows(rows, columns_);
    const double* value = values.data_ptr<double>();
    std::string line;
    for (int64_t row = 0; row < values.size(0); ++row) {
      line.clear();
      for (int64_t column = 0; column < columns_; ++column) {
        if (column > 0) line += delimiter_;
        char digits[32];
        line.append(digits, std::to_chars(digits, digits + sizeof digits, *value++).ptr);
      }
      file_.write(line += '\n');
    }
  }

  void finish() override { file_.commit(); }

 private:
  OutputFile file_;
  int64_t columns_;
  char delimiter_;
};

class NpyWriter final : public TableWriter {
 public:
  NpyWriter(const std::string& path, const Columns& columns)
      : file_(path), columns_(static_cast<int64_t>(columns.size())) {
    file_.write(npy_header(0, columns_));
  }

  void write(const Tensor& rows) override {
    const Tensor values = checked_rows(rows, columns_);
    file_.write({static_cast<const char*>(values.data_ptr()), values.nbytes()});
    rows_ += values.size(0);
  }

  void finish() override {
    file_.write_at(0, npy_header(rows_, columns_));
    file_.commit();
  }

 private:
  OutputFile file_;
  int64_t columns_, rows_ = 0;
};

using Make = std::unique_ptr<TableWriter> (*)(const std::string& path, const Columns& columns);

std::unique_ptr<TableWriter> make_csv(const std::string& path, const Columns& columns) {
  return std::make_unique<CsvWriter>(path, columns, ',');
}

std::unique_ptr<TableWriter> make_tsv(const std::string& path, const Columns& columns) {
  return std::make_unique<CsvWriter>(path, columns, '\t');
}

std::unique_ptr<TableWriter> make_npy(const std::string& path, const Columns& columns) {
  return std::make_unique<NpyWriter>(path, columns);
}

const std::vector<Named<Make>>& writable_formats() {
  static const std::vector<Named<Make>> table = {
      {".csv", make_csv}, {".tsv", make_tsv}, {".npy", make_npy}};
  return table;
}

Make find_make(const std::string& path) {
  for (const auto& format : writable_formats()) {
    if (!has_ending(path, format.name)) continue;
    check(format.make != make_npy || !is_stream(path), path,
          " is no file, and a .npy begins with the number of its rows, which only their end tells; "
          "write a file, or another format");
    return format.make;
  }
  if (path == "-" || is_stream(path)) return make_csv;
  fail(Error::Kind::usage, "the format of '", path,
       "' is not known from its name; tables are written "
       "to ",
       join(names_of(writable_formats())), ", and to - as csv on standard output");
}

}  // namespace

void check_table_format(const std::string& path) { find_make(path); }

std::unique_ptr<TableWriter> open_writer(const std::string& path, const Columns& column_names) {
  check(!column_names.empty(), "a table to write needs at least one column");
  std::unordered_set<std::string> seen;
  for (const auto& name : column_names)
    check(!name.empty() && seen.insert(name).second,
          "column names to write must be different and "
          "not empty, got ",
          shown(name), " among ", listed(column_names));
  return find_make(path)(path, column_names);
}

}  // namespace dre
