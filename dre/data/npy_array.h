/// A numpy array read by rows as float64, from a file or from inside an npz file.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "dre/data/npy.h"
#include "dre/data/source.h"

namespace dre {

/// Where the bytes of an npy file are.
struct NpySource {
  std::unique_ptr<ByteSource> bytes;
  int64_t size = -1;                ///< of the whole npy file; -1 where it is not known
  std::shared_ptr<InputFile> file;  ///< holds the same bytes at any position; may be empty
};

class NpyArray final {
 public:
  /// Reads the header and refuses shapes that do not fit the size; `where` is what messages call
  /// it.
  NpyArray(NpySource source, std::string where);

  int64_t rows() const { return header_.shape[0]; }
  int64_t columns() const { return is_vector() ? 1 : header_.shape[1]; }
  bool is_vector() const { return header_.shape.size() == 1; }

  /// The next `count` rows to out[row * stride + column]. After the last row the end of the file
  /// and its checksum, where it has one, are verified.
  void read(int64_t count, double* out, int64_t stride);

 private:
  void check_bytes(int64_t there) const;
  void read_rows(int64_t count, double* out, int64_t stride);
  void read_columns(int64_t count, double* out, int64_t stride);
  void check_end();

  std::string where_;
  NpySource source_;
  NpyHeader header_;
  int64_t data_offset_ = 0;  ///< in source_.file
  int64_t row_ = 0;
  std::vector<char> buffer_;
};

}  // namespace dre
