#include "dre/report/base64.h"

#include <cstdint>

namespace dre::report {

std::string base64(std::string_view bytes) {
  const char* const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t group = 0;  // three bytes, zeros where they end
    for (size_t j = i; j < i + 3; ++j)
      group = group << 8 | (j < bytes.size() ? static_cast<uint8_t>(bytes[j]) : 0U);
    for (const uint32_t shift : {18U, 12U, 6U, 0U}) out += digits[group >> shift & 63U];
  }
  for (size_t missing = (3 - bytes.size() % 3) % 3; missing > 0; --missing)
    out[out.size() - missing] = '=';
  return out;
}

}  // namespace dre::report
