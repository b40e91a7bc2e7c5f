#include "dre/data/checksum.h"

#include <zlib.h>

#include <cstdio>
#include <vector>

#include "dre/data/source.h"

namespace dre {

void Checksum::add(const void* bytes, size_t size) {
  // zlib starts anew when the pointer is null, as that of an empty tensor is.
  if (size > 0)
    value_ = static_cast<uint32_t>(::crc32_z(value_, static_cast<const Bytef*>(bytes), size));
}

void Checksum::add(const Tensor& tensor) {
  const Tensor values = tensor.detach().to(torch::kCPU).contiguous();
  add(values.data_ptr(), values.nbytes());
}

std::string Checksum::hex() const {
  char digits[9];
  std::snprintf(digits, sizeof digits, "%08x", static_cast<unsigned>(value_));
  return digits;
}

std::string file_checksum(const std::string& path) {
  InputFile file(path);
  Checksum checksum;
  std::vector<char> buffer(1 << 20);
  while (const size_t got = file.read(buffer.data(), buffer.size()))
    checksum.add(buffer.data(), got);
  return checksum.hex();
}

std::string tensor_checksum(const Tensor& tensor) {
  Checksum checksum;
  checksum.add(tensor);
  return checksum.hex();
}

}  // namespace dre
