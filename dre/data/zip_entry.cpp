#include "dre/data/zip_entry.h"

#include <zlib.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "dre/base/error.h"
#include "dre/data/place.h"

namespace dre {
namespace {

constexpr int64_t local_header_bytes = 30;
constexpr size_t packed_buffer = size_t{1} << 14;

[[noreturn]] void refuse_entry(const InputFile& file, const ZipEntry& entry,
                               const std::string& what) {
  fail(Error::Kind::data, file.name(), " is not a usable npz file: entry ", shown(entry.name), " ",
       what);
}

/// Where the packed bytes begin: behind the local header, whose lengths may differ from the
/// directory's.
int64_t data_offset(const InputFile& file, const ZipEntry& entry) {
  std::string header(local_header_bytes, '\0');
  if (file.read_at(entry.offset, header.data(), header.size()) != header.size() ||
      !header.starts_with("PK\3\4"))
    refuse_entry(file, entry, "has no header where the directory says; the file is damaged");
  const auto length = [&](size_t at) {
    return static_cast<unsigned char>(header[at]) | static_cast<unsigned char>(header[at + 1]) << 8;
  };
  std::string name(static_cast<size_t>(length(26)), '\0');
  file.read_at(entry.offset + local_header_bytes, name.data(), name.size());
  if (name != entry.name) refuse_entry(file, entry, "has another name in its own header");
  const int64_t offset = entry.offset + local_header_bytes + length(26) + length(28);
  if (offset > file.size() - entry.packed)
    refuse_entry(file, entry, "reaches beyond the end of the file");
  return offset;
}

class ZipEntrySource final : public ByteSource {
 public:
  ZipEntrySource(std::shared_ptr<InputFile> file, const ZipEntry& entry)
      : file_(std::move(file)), entry_(entry), offset_(data_offset(*file_, entry)) {
    if (!entry_.deflated) return;
    packed_.resize(packed_buffer);
    // Negative: raw deflate, without the header of zlib.
    check_data(::inflateInit2(&stream_, -MAX_WBITS) == Z_OK, "no memory to unpack ", file_->name());
  }
  ~ZipEntrySource() override {
    if (entry_.deflated) ::inflateEnd(&stream_);
  }
  ZipEntrySource(const ZipEntrySource&) = delete;
  ZipEntrySource& operator=(const ZipEntrySource&) = delete;

  size_t read(char* to, size_t size) override {
    const size_t wanted = std::min(size, static_cast<size_t>(entry_.size - produced_));
    size_t done = 0;
    while (done < wanted) {
      const size_t request = std::min(wanted - done, size_t{1} << 30);
      const size_t got = entry_.deflated ? unpack(to + done, request) : copy(to + done, request);
      if (got == 0) break;
      checksum_ = ::crc32_z(checksum_, reinterpret_cast<const Bytef*>(to + done), got);
      done += got;
    }
    produced_ += static_cast<int64_t>(done);
    if (done < wanted) refuse_early_end();
    if (produced_ == entry_.size && !verified_) verify();
    return done;
  }

 private:
  size_t copy(char* to, size_t size) {
    const size_t got = file_->read_at(offset_ + taken_, to, size);
    taken_ += static_cast<int64_t>(got);
    return got;
  }

  size_t unpack(char* to, size_t size) {
    stream_.next_out = reinterpret_cast<Bytef*>(to);
    stream_.avail_out = static_cast<uInt>(size);
    while (stream_.avail_out > 0 && !ended_) {
      if (stream_.avail_in == 0) refill();
      const int status = ::inflate(&stream_, Z_NO_FLUSH);
      ended_ = status == Z_STREAM_END;
      if (status == Z_BUF_ERROR) refuse_early_end();
      if (!ended_ && status != Z_OK)
        refuse_entry(
            *file_, entry_,
            text("cannot be unpacked (", stream_.msg ? stream_.msg : "zlib gives no reason",
                 "); the file is damaged"));
    }
    return size - stream_.avail_out;
  }

  void refill() {
    const auto left = static_cast<size_t>(entry_.packed - taken_);
    stream_.avail_in = static_cast<uInt>(copy(packed_.data(), std::min(left, packed_.size())));
    stream_.next_in = reinterpret_cast<Bytef*>(packed_.data());
  }

  [[noreturn]] void refuse_early_end() const {
    refuse_entry(*file_, entry_,
                 text("ends before the ", entry_.size,
                      " bytes the directory promises; "
                      "the file is damaged"));
  }

  void verify() {
    verified_ = true;
    char extra = 0;
    if (entry_.deflated && unpack(&extra, 1) > 0)
      refuse_entry(*file_, entry_,
                   text("unpacks to more than the ", entry_.size,
                        " bytes the directory promises; the file is damaged"));
    if (checksum_ != entry_.checksum)
      refuse_entry(*file_, entry_, "does not match its checksum; the file is damaged");
  }

  std::shared_ptr<InputFile> file_;
  ZipEntry entry_;
  int64_t offset_;
  int64_t taken_ = 0;     ///< packed bytes read
  int64_t produced_ = 0;  ///< bytes unpacked
  bool ended_ = false, verified_ = false;
  uLong checksum_ = 0;
  std::vector<char> packed_;
  z_stream stream_{};
};

}  // namespace

std::unique_ptr<ByteSource> open_zip_entry(std::shared_ptr<InputFile> file, const ZipEntry& entry) {
  return std::make_unique<ZipEntrySource>(std::move(file), entry);
}

}  // namespace dre
