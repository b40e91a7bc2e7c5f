/// CRC-32 checksums as eight hexadecimal digits: they record which data a model was fitted to. They
/// find accidents, not forgeries.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "dre/data/table.h"

namespace dre {

/// For bytes that come in pieces.
class Checksum final {
 public:
  void add(const void* bytes, size_t size);
  void add(const Tensor& tensor);  ///< its elements in row-major order
  std::string hex() const;

 private:
  uint32_t value_ = 0;
};

/// Of all bytes of a file.
std::string file_checksum(const std::string& path);

/// Of the elements in row-major order.
std::string tensor_checksum(const Tensor& tensor);

}  // namespace dre
