#include "dre/data/source.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "dre/base/error.h"

namespace dre {
namespace {

constexpr size_t largest_request = size_t{1} << 30;

int open_descriptor(const std::string& path) {
  if (path == "-") return ::dup(STDIN_FILENO);
  return ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
}

/// Calls `transfer(done)` until `size` bytes have come or it gives no more.
template <class Transfer>
size_t fill(size_t size, const std::string& name, Transfer transfer) {
  size_t done = 0;
  while (done < size) {
    const ssize_t got = transfer(done, std::min(size - done, largest_request));
    if (got == 0) break;
    if (got < 0 && errno == EINTR) continue;
    check_data(got > 0, "cannot read ", name, ": ", system_text(errno));
    done += static_cast<size_t>(got);
  }
  return done;
}

class GzipSource final : public ByteSource {
 public:
  explicit GzipSource(const std::string& path) : name_(input_name(path)) {
    const InputFile file(path);
    gzip_ = ::gzdopen(::dup(file.descriptor()), "rb");
    check_data(gzip_ != nullptr, "cannot read ", name_, ": no memory to unpack it");
    ::gzbuffer(gzip_, 1 << 17);
  }
  ~GzipSource() override { ::gzclose(gzip_); }
  GzipSource(const GzipSource&) = delete;
  GzipSource& operator=(const GzipSource&) = delete;

  size_t read(char* to, size_t size) override {
    size_t done = 0;
    while (done < size) {
      const auto request = static_cast<unsigned>(std::min(size - done, largest_request));
      const int got = ::gzread(gzip_, to + done, request);
      check_state(got);
      if (got == 0) break;
      done += static_cast<size_t>(got);
    }
    return done;
  }

 private:
  void check_state(int got) {
    check_data(got <= 0 || ::gzdirect(gzip_) == 0, name_,
               " is not a gzip file although its name ends in .gz; rename it");
    if (got > 0) return;
    int code = Z_OK;
    const char* reason = ::gzerror(gzip_, &code);
    check_data(code != Z_BUF_ERROR, name_,
               " ends in the middle of its compressed data; copy or "
               "download it again");
    check_data(got == 0, name_, " is a damaged gzip file: ", reason);
  }

  std::string name_;
  gzFile gzip_ = nullptr;
};

class PrependedSource final : public ByteSource {
 public:
  PrependedSource(std::string head, std::unique_ptr<ByteSource> source)
      : head_(std::move(head)), source_(std::move(source)) {}

  size_t read(char* to, size_t size) override {
    const size_t from_head = std::min(size, head_.size() - used_);
    std::memcpy(to, head_.data() + used_, from_head);
    used_ += from_head;
    return from_head == size ? size : from_head + source_->read(to + from_head, size - from_head);
  }

 private:
  std::string head_;
  size_t used_ = 0;
  std::unique_ptr<ByteSource> source_;
};

/// A nameless file: it disappears with its descriptor.
int temporary_descriptor(const std::string& name) {
  std::error_code ignored;
  std::string path = (std::filesystem::temp_directory_path(ignored) / "dre-XXXXXX").string();
  const int descriptor = ::mkstemp(path.data());
  check_data(descriptor >= 0, "cannot unpack ", name, " to the temporary file ", path, ": ",
             system_text(errno), "; set TMPDIR to a directory with space");
  ::unlink(path.c_str());
  return descriptor;
}

}  // namespace

std::string system_text(int error_number) { return std::generic_category().message(error_number); }

std::string input_name(const std::string& path) { return path == "-" ? "standard input" : path; }

bool has_ending(const std::string& path, const std::string& ending) {
  if (path.size() < ending.size()) return false;
  return std::equal(
      ending.begin(), ending.end(), path.end() - static_cast<int64_t>(ending.size()),
      [](unsigned char left, unsigned char right) { return left == std::tolower(right); });
}

bool is_stream(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

InputFile::InputFile(const std::string& path) : InputFile(open_descriptor(path), input_name(path)) {
  if (path == "-") size_ = -1;  // what comes before its current position is not ours
}

InputFile::InputFile(int descriptor, std::string name)
    : descriptor_(descriptor), name_(std::move(name)) {
  check_data(descriptor_ >= 0, "cannot read ", name_, ": ", system_text(errno), "; check the path");
  struct stat status {};
  const bool known = ::fstat(descriptor_, &status) == 0;
  if (!known || S_ISDIR(status.st_mode)) {
    ::close(descriptor_);
    fail(Error::Kind::data, "cannot read ", name_, ": it is a directory; give a file");
  }
  if (S_ISREG(status.st_mode)) size_ = status.st_size;
}

InputFile::~InputFile() { ::close(descriptor_); }

size_t InputFile::read(char* to, size_t size) {
  return fill(size, name_,
              [&](size_t done, size_t request) { return ::read(descriptor_, to + done, request); });
}

size_t InputFile::read_at(int64_t offset, char* to, size_t size) const {
  return fill(size, name_, [&](size_t done, size_t request) {
    return ::pread(descriptor_, to + done, request, offset + static_cast<int64_t>(done));
  });
}

void InputFile::read_exactly(int64_t offset, char* to, size_t size) const {
  const size_t got = read_at(offset, to, size);
  check_data(got == size, name_, " ends early: ", size, " bytes are needed at byte ", offset, ", ",
             got, " are there; was it changed while it was read?");
}

std::unique_ptr<ByteSource> open_gzip(const std::string& path) {
  return std::make_unique<GzipSource>(path);
}

std::unique_ptr<ByteSource> prepend(std::string head, std::unique_ptr<ByteSource> source) {
  return std::make_unique<PrependedSource>(std::move(head), std::move(source));
}

std::shared_ptr<InputFile> spool(ByteSource& source, const std::string& name) {
  const int descriptor = temporary_descriptor(name);
  const InputFile owner(descriptor, name);
  std::vector<char> buffer(1 << 20);
  while (const size_t got = source.read(buffer.data(), buffer.size())) {
    for (size_t done = 0; done < got;) {
      const ssize_t wrote = ::write(descriptor, buffer.data() + done, got - done);
      if (wrote < 0 && errno == EINTR) continue;
      check_data(wrote > 0, "cannot unpack ", name, " to a temporary file: ", system_text(errno),
                 "; set TMPDIR to a directory with space");
      done += static_cast<size_t>(wrote);
    }
  }
  return std::make_shared<InputFile>(::dup(descriptor), name);
}

}  // namespace dre
