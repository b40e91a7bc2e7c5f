/// Arrays of bytes in the IDX format (MNIST's): two zero bytes, the type, the number of dimensions,
/// their sizes as big-endian 32-bit numbers, the elements in row-major order.
#pragma once

#include <string>

#include "dre/data/table.h"

namespace dre {

/// The array in an IDX file of unsigned bytes, packed with gzip where the name ends in ".gz".
/// -> uint8, host. A damaged or foreign file is a data error.
Tensor read_idx(const std::string& path);

}  // namespace dre
