/// One entry of a zip file, unpacked while it is read.
#pragma once

#include <memory>

#include "dre/data/source.h"
#include "dre/data/zip.h"

namespace dre {

/// The unpacked bytes. Where they end, their number and checksum are compared with the directory.
std::unique_ptr<ByteSource> open_zip_entry(std::shared_ptr<InputFile> file, const ZipEntry& entry);

}  // namespace dre
