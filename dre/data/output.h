/// Files that are written whole or not at all: an interrupted or failed run leaves the old file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace dre {

/// Before long work: throws a data error unless a file can be written to `path`. Leaves nothing
/// behind. "-" is standard output.
void check_writable(const std::string& path);

/// The same for all outputs of a run; a usage error where one of them is an input or another
/// output, by whatever name. Empty names are passed over.
void check_outputs(const std::vector<std::string>& outputs, const std::vector<std::string>& inputs);

/// Written aside in the directory of its target and renamed by `commit`; removed when it goes away
/// without. A symbolic link is followed, the permissions of an existing file are kept. Standard
/// output ("-"), pipes and devices are written directly.
class OutputFile final {
 public:
  explicit OutputFile(const std::string& path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(std::string_view bytes);

  /// Writes over bytes that were written before.
  void write_at(int64_t offset, std::string_view bytes);

  /// Makes the file appear under its name; nothing can be written afterwards.
  void commit();

 private:
  void flush();
  void send(std::string_view bytes);
  [[noreturn]] void refuse(const char* step, int error_number);
  void discard() noexcept;

  std::string path_;    ///< as given, for messages
  std::string target_;  ///< with links followed
  std::string aside_;   ///< empty where the target is written directly
  bool existed_ = false;
  int descriptor_ = -1;
  std::string buffer_;
};

}  // namespace dre
