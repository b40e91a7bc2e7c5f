/// Files for the tests of readers and writers: a directory that goes away, bytes in and out, and
/// numpy and zip files put together byte by byte.
#pragma once

#include <ftw.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "dre/base/error.h"

namespace dre::testing {

class Directory {
 public:
  Directory() {
    std::string name = (std::filesystem::temp_directory_path() / "dre-test-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~Directory() { remove_tree(path_); }

  std::string path(const std::string& name) const { return path_ + "/" + name; }

  std::string write(const std::string& name, std::string_view bytes) const {
    std::filesystem::remove(path(name));  // truncating is slow: some file systems then sync
    std::ofstream(path(name), std::ios::binary) << bytes;
    return path(name);
  }

  std::string read(const std::string& name) const {
    std::ifstream in(path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  void remove(const std::string& name) const { remove_tree(path(name)); }

  std::vector<std::string> list() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(path_))
      names.push_back(entry.path().filename().string());
    return names;
  }

 private:
  /// Not by std::filesystem::remove_all: the LibTorch of the Python packages exports a broken one.
  static void remove_tree(const std::string& root) {
    const auto remove = [](const char* path, const struct stat*, int, struct FTW*) {
      return ::remove(path);
    };
    ::nftw(root.c_str(), remove, 16, FTW_DEPTH | FTW_PHYS);
  }

  std::string path_;
};

/// Allocations beyond `bytes` more than now fail, with an exception that is not ours.
class MemoryLimit {
 public:
  explicit MemoryLimit(rlim_t bytes) {
    ::getrlimit(RLIMIT_AS, &old_);
#ifndef __SANITIZE_ADDRESS__  // the sanitizer itself reserves terabytes
    rlim_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    rlimit limit = old_;
    limit.rlim_cur = pages * static_cast<rlim_t>(::getpagesize()) + bytes;
    ::setrlimit(RLIMIT_AS, &limit);
#else
    (void)bytes;
#endif
  }
  ~MemoryLimit() { ::setrlimit(RLIMIT_AS, &old_); }

 private:
  rlimit old_{};
};

/// The message of the error that `action` throws, which must be of the given kind and one line.
template <class Action>
std::string message_of(Action action, Error::Kind kind = Error::Kind::data) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind) << error.what();
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return "";
}

inline void expect_contains(const std::string& message, const std::vector<std::string>& fragments) {
  for (const auto& fragment : fragments)
    EXPECT_NE(message.find(fragment), std::string::npos)
        << "no \"" << fragment << "\" in: " << message;
}

/// The bytes of numbers as this machine has them, or reversed.
template <class Number>
std::string bytes_of(const std::vector<Number>& numbers, bool big_endian = false) {
  std::string out;
  for (const Number number : numbers) {
    char one[sizeof(Number)];
    std::memcpy(one, &number, sizeof(Number));
    if (big_endian) std::reverse(one, one + sizeof(Number));
    out.append(one, sizeof(Number));
  }
  return out;
}

inline std::string little(uint64_t value, int width) {
  std::string out;
  for (int i = 0; i < width; ++i, value >>= 8) out += static_cast<char>(value);
  return out;
}

/// An npy file with the given dictionary, padded as numpy does.
inline std::string npy_with(std::string literal, const std::string& data, int version = 1) {
  const size_t fixed = version == 1 ? 10 : 12;
  while ((fixed + literal.size() + 1) % 64 != 0) literal += ' ';
  literal += '\n';
  return std::string("\x93NUMPY") + static_cast<char>(version) + '\0' +
         little(literal.size(), version == 1 ? 2 : 4) + literal + data;
}

inline std::string npy(const std::string& descr, const std::string& shape, const std::string& data,
                       bool fortran = false, int version = 1) {
  return npy_with("{'descr': '" + descr + "', 'fortran_order': " + (fortran ? "True" : "False") +
                      ", 'shape': " + shape + ", }",
                  data, version);
}

/// CRC-32 bit by bit, as the zip format defines it.
inline uint32_t crc32_by_bits(std::string_view bytes) {
  uint32_t crc = 0xFFFFFFFF;
  for (const unsigned char byte : bytes) {
    crc ^= byte;
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320 : 0);
  }
  return ~crc;
}

/// Deflate in its simplest form: one stored block.
inline std::string deflate_stored(const std::string& bytes) {
  return '\1' + little(bytes.size(), 2) + little(~bytes.size(), 2) + bytes;
}

struct ZipPart {
  std::string name, bytes;
  bool deflated = false;
  bool zip64 = false;  ///< sizes stand in the extra field and, for the first part, in a zip64 end
};

inline std::string zip(const std::vector<ZipPart>& parts) {
  std::string out, directory;
  for (const auto& part : parts) {
    const std::string packed = part.deflated ? deflate_stored(part.bytes) : part.bytes;
    const std::string sizes64 =
        little(1, 2) + little(16, 2) + little(part.bytes.size(), 8) + little(packed.size(), 8);
    const std::string extra = part.zip64 ? sizes64 : "";
    const std::string sizes = part.zip64 ? std::string(8, '\xFF')
                                         : little(packed.size(), 4) + little(part.bytes.size(), 4);
    const std::string common = little(part.deflated ? 8 : 0, 2) + little(0, 4) +
                               little(crc32_by_bits(part.bytes), 4) + sizes +
                               little(part.name.size(), 2) + little(extra.size(), 2);
    directory += "PK\1\2" + little(45, 2) + little(45, 2) + little(0, 2) + common + little(0, 10) +
                 little(out.size(), 4) + part.name + extra;
    out += "PK\3\4" + little(45, 2) + little(0, 2) + common + part.name + extra + packed;
  }
  const uint64_t offset = out.size(), count = parts.size();
  out += directory;
  if (count == 0 || !parts[0].zip64)
    return out + "PK\5\6" + little(0, 4) + little(count, 2) + little(count, 2) +
           little(directory.size(), 4) + little(offset, 4) + little(0, 2);
  const uint64_t end64 = out.size();
  out += "PK\6\6" + little(44, 8) + little(45, 2) + little(45, 2) + little(0, 8) +
         little(count, 8) + little(count, 8) + little(directory.size(), 8) + little(offset, 8);
  out += "PK\6\7" + little(0, 4) + little(end64, 8) + little(1, 4);
  return out + "PK\5\6" + little(0, 4) + std::string(12, '\xFF') + little(0, 2);
}

inline std::string from_hex(std::string_view digits) {
  std::string out;
  for (size_t i = 0; i + 1 < digits.size(); i += 2)
    out += static_cast<char>(std::stoi(std::string(digits.substr(i, 2)), nullptr, 16));
  return out;
}

}  // namespace dre::testing
