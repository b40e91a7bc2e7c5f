/// Files that look like MNIST's: images of random levels, each dark or bright as a whole.
#pragma once

#include <random>
#include <string>

#include "tests/data/files.h"

namespace dre::testing {

inline std::string big_endian(uint32_t value) {
  std::string bytes;
  for (const uint32_t shift : {24U, 16U, 8U, 0U}) bytes += static_cast<char>(value >> shift & 255U);
  return bytes;
}

inline std::string idx_images(uint32_t count, unsigned seed) {
  constexpr uint32_t side = 28;
  std::mt19937_64 generator(seed);
  std::string bytes = big_endian(0x803) + big_endian(count) + big_endian(side) + big_endian(side);
  bytes.reserve(bytes.size() + size_t{count} * side * side);
  for (uint32_t i = 0; i < count; ++i) {
    const uint64_t bright = (generator() & 1U) * 0x8080808080808080U;
    for (uint32_t j = 0; j < side * side; j += 8) {
      const uint64_t word = (generator() & 0x3F3F3F3F3F3F3F3FU) | bright;
      bytes.append(reinterpret_cast<const char*>(&word), 8);
    }
  }
  return bytes;
}

inline void write_made_up_mnist(const Directory& directory) {
  directory.write("train-images-idx3-ubyte", idx_images(60'000, 1));
  directory.write("t10k-images-idx3-ubyte", idx_images(10'000, 2));
}

}  // namespace dre::testing
