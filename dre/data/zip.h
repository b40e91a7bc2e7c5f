/// The directory of a zip file, as far as npz files use it: stored and deflated entries, zip64.
/// Sizes come from here, so that the data descriptors behind the entries do not matter.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dre/data/source.h"

namespace dre {

struct ZipEntry {
  std::string name;
  bool deflated = false;
  uint32_t checksum = 0;  ///< CRC-32 of the unpacked bytes
  int64_t packed = 0;     ///< bytes in the file
  int64_t size = 0;       ///< bytes when unpacked
  int64_t offset = 0;     ///< of the local header
};

/// All entries, with sizes and offsets that lie inside the file; a damaged file is a data error.
std::vector<ZipEntry> read_zip_directory(const InputFile& file);

}  // namespace dre
