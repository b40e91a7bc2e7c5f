#include "dre/apps/typed_table.h"

#include <utility>

#include "dre/data/source.h"

namespace dre {

void TableOptions::visit_kinds(OptionVisitor& v) {
  v("categorical", categorical, "take these columns as categories, numbers or not");
  v("numeric", numeric, "these columns must hold numbers; any other text is an error");
}

void TableOptions::visit_rows(OptionVisitor& v, const char* max_rows_help) {
  v("missing", missing, {"encode", "error"},
    "missing values: encode them with an indicator column, or refuse them");
  v("max-rows", max_rows, at_least(10), max_rows_help);
}

ReadOptions read_options(const TableOptions& options, Advice advice) {
  ReadOptions read;
  read.missing = options.missing == "error" ? "error" : "keep";
  read.words = "keep";
  read.numbers = options.numeric;
  read.exact = options.categorical;
  read.advice = std::move(advice);
  read.advice.missing = "--missing error refuses that";
  return read;
}

FrameOptions frame_options(const TableOptions& options, int64_t seed, const Advice& advice) {
  FrameOptions frame;
  frame.categories = options.categorical;
  frame.max_rows = options.max_rows;
  frame.seed = static_cast<uint64_t>(seed);
  frame.advice = advice;
  return frame;
}

Frame read_frame(TableReader& reader, const std::string& path, const FrameOptions& options) {
  FrameBuilder builder(input_name(path), reader.columns(), options);
  while (const auto block = next_block(reader)) builder.add(*block);
  return std::move(builder).finish();
}

}  // namespace dre
