#include "dre/data/zip.h"

#include <algorithm>
#include <string_view>
#include <unordered_set>

#include "dre/base/error.h"
#include "dre/data/place.h"

namespace dre {
namespace {

constexpr int64_t end_record_bytes = 22, locator_bytes = 20, end64_record_bytes = 56,
                  entry_bytes = 46;
constexpr int64_t longest_comment = 65535;
constexpr int64_t largest_directory = int64_t{1} << 26;
constexpr uint32_t in_zip64 = 0xFFFFFFFF;
/// Deflate cannot shrink better than this, so larger claims are lies.
constexpr int64_t largest_deflate_ratio = 1040;

[[noreturn]] void refuse_zip(const std::string& file, const std::string& what) {
  fail(Error::Kind::data, file, " is not a usable npz file: ", what);
}

uint64_t number(std::string_view bytes, size_t at, size_t width) {
  uint64_t value = 0;
  for (size_t i = width; i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
  return value;
}

std::string bytes_at(const InputFile& file, int64_t offset, int64_t size) {
  if (offset < 0 || size < 0 || offset > file.size() - size)
    refuse_zip(file.name(), text("its directory points to byte ", offset, " of ", file.size(),
                                 "; it is truncated or damaged"));
  std::string bytes(static_cast<size_t>(size), '\0');
  file.read_exactly(offset, bytes.data(), bytes.size());
  return bytes;
}

struct Directory {
  int64_t offset, size, entries;
};

/// The end record stands at the end of the file, before a comment.
int64_t find_end_record(const InputFile& file) {
  if (file.size() < 0) refuse_zip(file.name(), "it is a pipe or device; save it to a regular file");
  const int64_t tail_size = std::min(file.size(), end_record_bytes + longest_comment);
  const std::string tail = bytes_at(file, file.size() - tail_size, tail_size);
  for (int64_t at = tail_size - end_record_bytes; at >= 0; --at) {
    if (std::string_view(tail).substr(at, 4) != "PK\5\6") continue;
    const auto comment = static_cast<int64_t>(number(tail, at + 20, 2));
    if (at + end_record_bytes + comment == tail_size) return file.size() - tail_size + at;
  }
  refuse_zip(file.name(), "it has no zip directory at its end; it is truncated or no npz file");
}

Directory read_end64(const InputFile& file, int64_t end_record) {
  const std::string locator = bytes_at(file, end_record - locator_bytes, locator_bytes);
  if (!locator.starts_with("PK\6\7")) refuse_zip(file.name(), "its zip64 locator is damaged");
  const auto at = static_cast<int64_t>(number(locator, 8, 8));
  const std::string record = bytes_at(file, at, end64_record_bytes);
  if (!record.starts_with("PK\6\6")) refuse_zip(file.name(), "its zip64 end record is damaged");
  return {static_cast<int64_t>(number(record, 48, 8)), static_cast<int64_t>(number(record, 40, 8)),
          static_cast<int64_t>(number(record, 32, 8))};
}

Directory locate_directory(const InputFile& file) {
  const int64_t at = find_end_record(file);
  const std::string record = bytes_at(file, at, end_record_bytes);
  Directory directory{static_cast<int64_t>(number(record, 16, 4)),
                      static_cast<int64_t>(number(record, 12, 4)),
                      static_cast<int64_t>(number(record, 10, 2))};
  const bool zip64 =
      directory.entries == 0xFFFF || directory.size == in_zip64 || directory.offset == in_zip64;
  if (zip64) directory = read_end64(file, at);
  if (directory.size > largest_directory)
    refuse_zip(file.name(), text("its directory claims ", directory.size, " bytes; it is damaged"));
  return directory;
}

/// Values that do not fit 32 bits stand in the extra field 1, in this order.
void read_zip64_extra(std::string_view extra, ZipEntry& entry, const std::string& file) {
  while (extra.size() >= 4) {
    const uint64_t id = number(extra, 0, 2), length = number(extra, 2, 2);
    if (length > extra.size() - 4) refuse_zip(file, "an extra field of its directory is damaged");
    std::string_view field = extra.substr(4, length);
    extra.remove_prefix(4 + length);
    if (id != 1) continue;
    for (int64_t* value : {&entry.size, &entry.packed, &entry.offset}) {
      if (*value != in_zip64 || field.size() < 8) continue;
      *value = static_cast<int64_t>(number(field, 0, 8));
      field.remove_prefix(8);
    }
  }
}

void check_entry(const ZipEntry& entry, uint64_t flags, uint64_t method, const InputFile& file) {
  const std::string name = shown(entry.name);
  if (flags & 1) refuse_zip(file.name(), text("entry ", name, " is encrypted"));
  if (method != 0 && method != 8)
    refuse_zip(file.name(), text("entry ", name, " is packed with method ", method,
                                 "; write it with numpy.savez or savez_compressed"));
  if (entry.packed < 0 || entry.size < 0 || entry.offset < 0 || entry.packed > file.size() ||
      entry.offset > file.size() - entry.packed)
    refuse_zip(file.name(), text("entry ", name, " claims ", entry.packed, " bytes at byte ",
                                 entry.offset, ", but the file has ", file.size()));
  const bool possible = entry.deflated ? entry.size / largest_deflate_ratio <= entry.packed
                                       : entry.size == entry.packed;
  if (!possible)
    refuse_zip(file.name(),
               text("entry ", name, " claims to unpack ", entry.packed, " bytes to ", entry.size));
}

/// The entry at the start of `rest`, which is moved behind it.
ZipEntry read_entry(std::string_view& rest, const InputFile& file) {
  if (rest.size() < entry_bytes || !rest.starts_with("PK\1\2"))
    refuse_zip(file.name(), "its directory is damaged");
  const size_t name = number(rest, 28, 2), extra = number(rest, 30, 2),
               comment = number(rest, 32, 2);
  if (rest.size() < entry_bytes + name + extra + comment)
    refuse_zip(file.name(), "its directory is damaged");
  ZipEntry entry;
  entry.name = std::string(rest.substr(entry_bytes, name));
  entry.deflated = number(rest, 10, 2) == 8;
  entry.checksum = static_cast<uint32_t>(number(rest, 16, 4));
  entry.packed = static_cast<int64_t>(number(rest, 20, 4));
  entry.size = static_cast<int64_t>(number(rest, 24, 4));
  entry.offset = static_cast<int64_t>(number(rest, 42, 4));
  read_zip64_extra(rest.substr(entry_bytes + name, extra), entry, file.name());
  check_entry(entry, number(rest, 8, 2), number(rest, 10, 2), file);
  rest.remove_prefix(entry_bytes + name + extra + comment);
  return entry;
}

}  // namespace

std::vector<ZipEntry> read_zip_directory(const InputFile& file) {
  const Directory directory = locate_directory(file);
  const std::string bytes = bytes_at(file, directory.offset, directory.size);
  std::string_view rest = bytes;
  std::vector<ZipEntry> entries;
  std::unordered_set<std::string> names;
  while (!rest.empty()) {
    entries.push_back(read_entry(rest, file));
    if (!names.insert(entries.back().name).second)
      refuse_zip(file.name(), text("it has two entries called ", shown(entries.back().name)));
  }
  if (static_cast<int64_t>(entries.size()) != directory.entries)
    refuse_zip(file.name(), text("its directory should have ", directory.entries,
                                 " entries and has ", entries.size()));
  return entries;
}

}  // namespace dre
