#include "dre/data/output.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "dre/base/error.h"
#include "dre/data/source.h"

namespace dre {
namespace {

constexpr size_t buffer_bytes = size_t{1} << 18;
constexpr int most_links = 40, most_attempts = 1000;

[[noreturn]] void refuse_path(const std::string& path, const std::string& what) {
  fail(Error::Kind::data, "cannot write ", path, ": ", what);
}

/// A link whose target does not exist yet is followed too: std::filesystem stops there.
std::string follow_links(const std::string& path) {
  std::error_code error;
  std::filesystem::path target = path;
  for (int i = 0; std::filesystem::is_symlink(target, error); ++i) {
    if (i == most_links) refuse_path(path, "its symbolic links form a circle");
    const auto next = std::filesystem::read_symlink(target, error);
    if (error) refuse_path(path, error.message());
    target = next.is_absolute() ? next : target.parent_path() / next;
  }
  return target.string();
}

std::string directory_of(const std::string& target) {
  const std::string parent = std::filesystem::path(target).parent_path().string();
  return parent.empty() ? "." : parent;
}

/// Whether two names stand for one file that is written aside and renamed.
bool same_file(const std::string& a, const std::string& b) {
  std::error_code error;
  for (const auto& path : {a, b}) {
    if (path.empty() || path == "-") return false;
    const auto status = std::filesystem::status(path, error);
    if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) return false;
  }
  if (std::filesystem::equivalent(a, b, error)) return true;
  const auto first = std::filesystem::weakly_canonical(a, error);
  return !error && first == std::filesystem::weakly_canonical(b, error) && !error;
}

struct Target {
  std::string name;
  bool exists, regular;
  mode_t mode;
};

Target inspect(const std::string& path) {
  check(!path.empty(),
        "the name of the output file is empty; give a path, or - for standard output");
  struct stat status {};
  // What a descriptor's link leads to, as /dev/stdout's, may have no name of its own.
  const bool special = ::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode);
  Target target{special ? path : follow_links(path), false, true, 0};
  target.exists = ::stat(target.name.c_str(), &status) == 0;
  if (target.exists) {
    target.regular = S_ISREG(status.st_mode);
    target.mode = status.st_mode & 07777;
    if (S_ISDIR(status.st_mode)) refuse_path(path, "it is a directory; give a file name in it");
    if (::access(target.name.c_str(), W_OK) != 0)
      refuse_path(path, text("the file exists and is not writable (", system_text(errno),
                             "); change its permissions or choose another name"));
    return target;
  }
  if (target.name.ends_with('/')) refuse_path(path, "it names a directory; add a file name");
  const std::string directory = directory_of(target.name);
  if (::stat(directory.c_str(), &status) != 0)
    refuse_path(path, text("the directory ", directory, " does not exist; create it first"));
  if (!S_ISDIR(status.st_mode)) refuse_path(path, text(directory, " is not a directory"));
  return target;
}

struct Aside {
  std::string name;
  int descriptor;
};

/// open and not mkstemp, so that a new file gets the permissions the user's umask gives.
Aside create_aside(const std::string& path, const std::string& target) {
  const std::string directory = directory_of(target);
  for (int i = 0; i < most_attempts; ++i) {
    const std::string name = text(directory, "/.dre-", ::getpid(), "-", i, ".tmp");
    const int descriptor = ::open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor >= 0) return {name, descriptor};
    if (errno != EEXIST)
      refuse_path(path, text("no file can be created in the directory ", directory, " (",
                             system_text(errno), "); choose another directory"));
  }
  refuse_path(path,
              text("too many files .dre-*.tmp in the directory ", directory, "; remove them"));
}

}  // namespace

void check_writable(const std::string& path) {
  if (path == "-") return;
  const Target target = inspect(path);
  if (!target.regular) return;  // opening a pipe would wait for its reader
  const Aside aside = create_aside(path, target.name);
  ::close(aside.descriptor);
  ::unlink(aside.name.c_str());
}

void check_outputs(const std::vector<std::string>& outputs,
                   const std::vector<std::string>& inputs) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].empty()) continue;
    check_writable(outputs[i]);
    for (const auto& input : inputs)
      check(!same_file(outputs[i], input), "the output ", outputs[i],
            " is also an input, which it would replace; give it another name");
    for (size_t j = 0; j < i; ++j) {
      check(outputs[i] != "-" || outputs[j] != "-",
            "two outputs would be mixed on standard output; give one of them a file");
      check(!same_file(outputs[i], outputs[j]), "two outputs have the name ", outputs[i],
            "; give one of them another");
    }
  }
}

OutputFile::OutputFile(const std::string& path) : path_(path) {
  if (path == "-") {
    path_ = "standard output";
    descriptor_ = ::dup(STDOUT_FILENO);
    if (descriptor_ < 0) refuse("open", errno);
    return;
  }
  const Target target = inspect(path);
  target_ = target.name;
  existed_ = target.exists;
  if (!target.regular) {
    descriptor_ = ::open(target_.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor_ < 0) refuse("open", errno);
    return;
  }
  const Aside aside = create_aside(path, target_);
  aside_ = aside.name;
  descriptor_ = aside.descriptor;
  if (existed_ && ::fchmod(descriptor_, target.mode) != 0) refuse("set the permissions", errno);
}

OutputFile::~OutputFile() { discard(); }

void OutputFile::write(std::string_view bytes) {
  check(descriptor_ >= 0, path_, " is complete; nothing more can be written to it");
  if (buffer_.size() + bytes.size() > buffer_bytes) flush();
  if (bytes.size() > buffer_bytes)
    send(bytes);
  else
    buffer_ += bytes;
}

void OutputFile::write_at(int64_t offset, std::string_view bytes) {
  check(descriptor_ >= 0, path_, " is complete; nothing more can be written to it");
  flush();
  const ssize_t wrote = ::pwrite(descriptor_, bytes.data(), bytes.size(), offset);
  if (wrote != static_cast<ssize_t>(bytes.size())) refuse("write", wrote < 0 ? errno : ENOSPC);
}

void OutputFile::commit() {
  check(descriptor_ >= 0, path_, " is complete already");
  flush();
  if (!aside_.empty() && ::fsync(descriptor_) != 0) refuse("write to the disk", errno);
  const int descriptor = descriptor_;
  descriptor_ = -1;
  if (::close(descriptor) != 0) refuse("close", errno);
  if (aside_.empty()) return;
  if (std::rename(aside_.c_str(), target_.c_str()) != 0) refuse("rename", errno);
  aside_.clear();
}

void OutputFile::flush() {
  send(buffer_);
  buffer_.clear();
}

void OutputFile::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t wrote =
        ::write(descriptor_, bytes.data(), std::min(bytes.size(), size_t{1} << 30));
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) refuse("write", wrote < 0 ? errno : ENOSPC);
    bytes.remove_prefix(static_cast<size_t>(wrote));
  }
}

/// Frees the space of the aside file at once: the disk may be full.
void OutputFile::refuse(const char* step, int error_number) {
  const bool direct = aside_.empty();
  discard();
  fail(Error::Kind::data, "cannot ", step, " ", path_, ": ", system_text(error_number),
       direct     ? ""
       : existed_ ? "; the old file is untouched"
                  : "; no file was left there");
}

void OutputFile::discard() noexcept {
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = -1;
  if (!aside_.empty()) ::unlink(aside_.c_str());
  aside_.clear();
}

}  // namespace dre
