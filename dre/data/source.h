/// Bytes from files, pipes and compressed files; every failure is a data error that names the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace dre {

/// Bytes in order.
class ByteSource {
 public:
  virtual ~ByteSource() = default;

  /// Fills `to`; returns fewer than `size` bytes only at the end.
  virtual size_t read(char* to, size_t size) = 0;
};

/// An open file, read in order or, where it is a regular file, at any position.
class InputFile final : public ByteSource {
 public:
  /// "-" is standard input.
  explicit InputFile(const std::string& path);
  /// Takes over an open descriptor.
  InputFile(int descriptor, std::string name);
  ~InputFile() override;
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  const std::string& name() const { return name_; }
  int descriptor() const { return descriptor_; }

  /// Bytes of a regular file; -1 for pipes, devices and standard input.
  int64_t size() const { return size_; }

  size_t read(char* to, size_t size) override;
  size_t read_at(int64_t offset, char* to, size_t size) const;

  /// Like read_at, but fewer bytes are a data error.
  void read_exactly(int64_t offset, char* to, size_t size) const;

 private:
  int descriptor_;
  std::string name_;
  int64_t size_ = -1;
};

/// A gzip file, unpacked while it is read.
std::unique_ptr<ByteSource> open_gzip(const std::string& path);

/// `head`, then the rest of `source`: what was looked at to recognise a format is read again.
std::unique_ptr<ByteSource> prepend(std::string head, std::unique_ptr<ByteSource> source);

/// The rest of `source` in a nameless temporary file, for access at any position.
std::shared_ptr<InputFile> spool(ByteSource& source, const std::string& name);

/// A pipe, device or other file without a size; false where nothing exists at `path`.
bool is_stream(const std::string& path);

/// Whether a path ends in `ending` (lower case), as "T.CSV" does in ".csv".
bool has_ending(const std::string& path, const std::string& ending);

/// What messages call a path: "-" is "standard input".
std::string input_name(const std::string& path);

/// The text of an error number of the system.
std::string system_text(int error_number);

}  // namespace dre
