#include "dre/data/reader.h"

#include <algorithm>
#include <utility>

#include "dre/base/error.h"
#include "dre/base/names.h"
#include "dre/data/arrays_reader.h"
#include "dre/data/columns.h"
#include "dre/data/csv_reader.h"
#include "dre/data/npy.h"
#include "dre/data/source.h"

namespace dre {
namespace {

using Open = std::unique_ptr<TableReader> (*)(const std::string& path, const ReadOptions& options);

std::unique_ptr<TableReader> open_csv(const std::string& path, const ReadOptions& options) {
  return read_csv(std::make_unique<InputFile>(path), path, 0, options);
}

std::unique_ptr<TableReader> open_tsv(const std::string& path, const ReadOptions& options) {
  return read_csv(std::make_unique<InputFile>(path), path, '\t', options);
}

std::unique_ptr<TableReader> open_packed_csv(const std::string& path, const ReadOptions& options) {
  return read_csv(open_gzip(path), path, 0, options);
}

std::unique_ptr<TableReader> open_packed_tsv(const std::string& path, const ReadOptions& options) {
  return read_csv(open_gzip(path), path, '\t', options);
}

std::unique_ptr<TableReader> open_npy(const std::string& path, const ReadOptions& options) {
  auto in_order = std::make_unique<InputFile>(path);
  const int64_t size = in_order->size();
  auto anywhere = size < 0 ? nullptr : std::make_shared<InputFile>(path);
  return read_npy({std::move(in_order), size, std::move(anywhere)}, path, options);
}

/// csv, or npy recognised by its first bytes.
std::unique_ptr<TableReader> open_stream(const std::string& path, const ReadOptions& options) {
  std::unique_ptr<ByteSource> source = std::make_unique<InputFile>(path);
  const std::string name = input_name(path);
  std::string head(std::char_traits<char>::length(npy_magic), '\0');
  head.resize(source->read(head.data(), head.size()));
  const bool npy = head == npy_magic;
  source = prepend(std::move(head), std::move(source));
  if (npy) return read_npy({std::move(source), -1, nullptr}, name, options);
  return read_csv(std::move(source), name, 0, options);
}

/// To add a format: a row here, and a row in the list of the round-trip test.
const std::vector<Named<Open>>& readable_formats() {
  static const std::vector<Named<Open>> table = {
      {".csv", open_csv},           {".tsv", open_tsv}, {".csv.gz", open_packed_csv},
      {".tsv.gz", open_packed_tsv}, {".npy", open_npy}, {".npz", open_npz},
  };
  return table;
}

Open find_open(const std::string& path) {
  for (const auto& format : readable_formats())
    if (has_ending(path, format.name)) return format.make;
  if (is_stream(path)) return open_stream;
  fail(Error::Kind::usage, "the format of '", path,
       "' is not known from its name; known endings are ", join(names_of(readable_formats())),
       ", and - is standard input");
}

void append(Table& all, Table&& block, std::vector<Tensor>& values) {
  values.push_back(std::move(block.values));
  for (auto& [name, texts] : block.texts) {
    auto& to = all.texts[name];
    to.insert(to.end(), std::make_move_iterator(texts.begin()),
              std::make_move_iterator(texts.end()));
  }
}

}  // namespace

void ReadOptions::visit(OptionVisitor& v) {
  v("columns", columns, "keep only these columns, in this order");
  v("drop", drop, "leave these columns out");
  v("texts", texts, "read these columns as text");
  v("missing", missing, {"keep", "error"}, "keep missing cells, or refuse them");
  v("words", words, {"keep", "error"}, "keep cells that are no numbers, or refuse them");
  v("numbers", numbers, "columns whose words are refused all the same");
}

std::unique_ptr<TableReader> open_table(const std::string& path, const ReadOptions& options) {
  check_read_options(options);
  check(!path.empty(), "the name of the input file is empty; give a path, or - for standard input");
  return path == "-" ? open_stream(path, options) : find_open(path)(path, options);
}

std::optional<Table> next_block(TableReader& reader) {
  constexpr int64_t most_values = int64_t{1} << 20;
  const auto columns = std::max<int64_t>(1, static_cast<int64_t>(reader.columns().size()));
  return reader.next(std::max<int64_t>(1, most_values / columns));
}

Table read_table(const std::string& path, const ReadOptions& options) {
  const auto reader = open_table(path, options);
  Table all{reader->columns(), {}, {}};
  std::vector<Tensor> values;
  while (auto block = next_block(*reader)) append(all, std::move(*block), values);
  all.values = values.size() == 1 ? values.front() : torch::cat(values);
  return all;
}

}  // namespace dre
