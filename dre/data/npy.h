/// The header of numpy's npy format, versions 1 to 3: what the array is and how its numbers are
/// written.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dre/data/source.h"

namespace dre {

/// Element types that can be read as float64.
struct NpyType {
  char kind;  ///< f, i, u or b
  int64_t size;
  /// Decodes `count` elements to out[0], out[stride], ...
  void (*decode)(const char* bytes, int64_t count, bool swap, double* out, int64_t stride);
};

struct NpyHeader {
  const NpyType* type;
  bool swap;     ///< big-endian
  bool fortran;  ///< columns are stored one after the other
  std::vector<int64_t> shape;
  int64_t header_bytes;  ///< the data begin here
  int64_t data_bytes;    ///< product of the shape times the size of an element
};

/// The first bytes of every npy file.
inline constexpr char npy_magic[] = "\x93NUMPY";

/// Reads the header from the start of `source`; `where` is what messages call the array.
NpyHeader read_npy_header(ByteSource& source, const std::string& where);

/// The header of a float64 array [rows, columns], or [rows] where there is one column. Its length
/// does not depend on `rows`, so that it can be written again when they are known.
std::string npy_header(int64_t rows, int64_t columns);

}  // namespace dre
