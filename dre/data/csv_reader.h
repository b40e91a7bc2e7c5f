/// Tables from delimited text with a header line.
#pragma once

#include <memory>
#include <string>

#include "dre/data/reader.h"
#include "dre/data/source.h"

namespace dre {

/// `name` is what messages call the file; `delimiter` 0 is detected from the header.
std::unique_ptr<TableReader> read_csv(std::unique_ptr<ByteSource> source, const std::string& name,
                                      char delimiter, const ReadOptions& options);

}  // namespace dre
