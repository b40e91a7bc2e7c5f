#include "dre/data/safetensors.h"

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>

#include "dre/base/error.h"
#include "dre/data/output.h"
#include "dre/data/place.h"
#include "dre/data/source.h"

namespace dre {
namespace {

using nlohmann::json;

constexpr int64_t length_bytes = 8;
constexpr int64_t longest_header = 100'000'000;  // the limit of the format's own library
constexpr size_t most_dimensions = 32;
constexpr char metadata_key[] = "__metadata__";

struct DType {
  const char* name;
  torch::ScalarType type;
  int64_t size;
};

constexpr DType dtypes[] = {
    {"F64", torch::kFloat64, 8},   {"F32", torch::kFloat32, 4}, {"F16", torch::kFloat16, 2},
    {"BF16", torch::kBFloat16, 2}, {"I64", torch::kInt64, 8},   {"I32", torch::kInt32, 4},
    {"I16", torch::kInt16, 2},     {"I8", torch::kInt8, 1},     {"U8", torch::kUInt8, 1},
    {"BOOL", torch::kBool, 1},
};

std::string dtype_names() {
  std::string names;
  for (const DType& dtype : dtypes) names += text(names.empty() ? "" : ", ", dtype.name);
  return names;
}

[[noreturn]] void refuse(const std::string& path, const std::string& what) {
  fail(Error::Kind::data, path, " is not a safetensors file: ", what);
}

// ---- saving

struct Part {
  std::string name;
  Tensor tensor;
  const DType* dtype;
};

const DType* dtype_of(const std::string& name, const Tensor& tensor) {
  check(tensor.defined(), "tensor ", shown(name), " is undefined and cannot be saved");
  for (const DType& dtype : dtypes)
    if (dtype.type == tensor.scalar_type()) return &dtype;
  fail(Error::Kind::usage, "tensor ", shown(name), " is of type ", tensor.scalar_type(),
       ", which cannot be saved; known are ", dtype_names());
}

/// Wide types first, so that every tensor begins at a multiple of its element size.
std::vector<Part> ordered_parts(const TensorFile& content) {
  std::vector<Part> parts;
  std::set<std::string> names;
  for (const auto& [name, tensor] : content.tensors) {
    check(name != metadata_key, "a tensor cannot be called ", metadata_key);
    check(names.insert(name).second, "two tensors are called ", shown(name));
    const DType* dtype = dtype_of(name, tensor);
    parts.push_back({name, tensor.detach().to(torch::kCPU).contiguous(), dtype});
  }
  std::sort(parts.begin(), parts.end(), [](const Part& left, const Part& right) {
    return left.dtype->size != right.dtype->size ? left.dtype->size > right.dtype->size
                                                 : left.name < right.name;
  });
  return parts;
}

std::string header_text(const std::vector<Part>& parts,
                        const std::map<std::string, std::string>& metadata) {
  json header = json::object();  // keeps its keys sorted
  if (!metadata.empty()) header[metadata_key] = metadata;
  int64_t offset = 0;
  for (const Part& part : parts) {
    const auto end = offset + static_cast<int64_t>(part.tensor.nbytes());
    header[part.name] = {{"dtype", part.dtype->name},
                         {"shape", part.tensor.sizes().vec()},
                         {"data_offsets", {offset, end}}};
    offset = end;
  }
  try {
    std::string out = header.dump();
    out.append((8 - out.size() % 8) % 8, ' ');
    return out;
  } catch (const json::exception&) {
    fail(Error::Kind::usage, "names of tensors and metadata must be UTF-8 text to be saved");
  }
}

// ---- loading

struct Entry {
  std::string name;
  const DType* dtype;
  std::vector<int64_t> shape;
  int64_t begin, end;
};

/// nlohmann keeps the last of two equal keys without a word; the format forbids them.
json parse_header(const std::string& bytes, const std::string& path) {
  std::vector<std::set<std::string>> keys;
  const auto watch = [&](int, json::parse_event_t event, json& parsed) {
    if (event == json::parse_event_t::object_start) keys.emplace_back();
    if (event == json::parse_event_t::object_end) keys.pop_back();
    if (event == json::parse_event_t::key && !keys.back().insert(parsed.get<std::string>()).second)
      refuse(path, text("its header has the key ", shown(parsed.get<std::string>()), " twice"));
    return true;
  };
  try {
    json header = json::parse(bytes, watch);
    if (!header.is_object()) refuse(path, "its header is not a JSON object");
    return header;
  } catch (const json::exception&) {
    refuse(path, "its header is not valid JSON; it is damaged or of another format");
  }
}

std::string read_header(const InputFile& file) {
  const std::string& path = file.name();
  if (file.size() < 0) refuse(path, "it is a pipe or device; save it to a regular file");
  if (file.size() < length_bytes + 2)
    refuse(path, text("it has ", file.size(), " bytes, which is too few"));
  uint64_t length = 0;
  file.read_exactly(0, reinterpret_cast<char*>(&length), length_bytes);
  const auto available =
      static_cast<uint64_t>(std::min(file.size() - length_bytes, longest_header));
  if (length < 2 || length > available)
    refuse(path, text("its first 8 bytes claim a header of ", length, " bytes, but ", available,
                      " are possible; it is truncated or of another format"));
  std::string header(length, '\0');
  file.read_exactly(length_bytes, header.data(), header.size());
  if (header[0] != '{') refuse(path, "its header does not begin with '{'");
  return header;
}

/// A list of whole numbers from 0 on.
std::vector<int64_t> whole_numbers(const json& list, const std::string& what,
                                   const std::string& path) {
  if (!list.is_array()) refuse(path, text(what, " is not a list"));
  if (list.size() > most_dimensions) refuse(path, text(what, " is too long"));
  std::vector<int64_t> numbers;
  for (const json& item : list) {
    const bool good = item.is_number_unsigned() && item.get<uint64_t>() <= uint64_t{INT64_MAX};
    if (!good) refuse(path, text(what, " has something other than whole numbers from 0 on"));
    numbers.push_back(item.get<int64_t>());
  }
  return numbers;
}

const json& field(const json& object, const char* key, const std::string& name,
                  const std::string& path) {
  const auto found = object.find(key);
  if (found == object.end()) refuse(path, text("tensor ", shown(name), " has no ", key));
  return *found;
}

const DType* dtype_named(const json& value, const std::string& name, const std::string& path) {
  const std::string given = value.is_string() ? value.get<std::string>() : value.dump();
  for (const DType& dtype : dtypes)
    if (given == dtype.name) return &dtype;
  refuse(path, text("tensor ", shown(name), " has the dtype ", shown(given), "; known are ",
                    dtype_names()));
}

void check_bytes(const Entry& entry, const std::string& path) {
  int64_t bytes = entry.dtype->size;
  bool empty = false, overflow = false;
  for (const int64_t count : entry.shape) {
    empty = empty || count == 0;
    // Dimensions of zero are left out, so that they cannot hide absurd ones.
    overflow = overflow || (count > 0 && __builtin_mul_overflow(bytes, count, &bytes));
  }
  if (overflow) refuse(path, text("tensor ", shown(entry.name), " has an absurd shape"));
  const int64_t needed = empty ? 0 : bytes;
  if (entry.begin > entry.end || entry.end - entry.begin != needed)
    refuse(path, text("tensor ", shown(entry.name), " needs ", needed, " bytes but lies from ",
                      entry.begin, " to ", entry.end));
}

Entry read_entry(const std::string& name, const json& value, const std::string& path) {
  if (!value.is_object()) refuse(path, text("tensor ", shown(name), " is not a JSON object"));
  const std::string whose = text(" of tensor ", shown(name));
  Entry entry{name, dtype_named(field(value, "dtype", name, path), name, path),
              whole_numbers(field(value, "shape", name, path), "the shape" + whose, path), 0, 0};
  const auto offsets =
      whole_numbers(field(value, "data_offsets", name, path), "data_offsets" + whose, path);
  if (offsets.size() != 2) refuse(path, text("data_offsets", whose, " are not two numbers"));
  if (value.size() != 3) refuse(path, text("tensor ", shown(name), " has an unknown field"));
  entry.begin = offsets[0];
  entry.end = offsets[1];
  check_bytes(entry, path);
  return entry;
}

/// The tensors must fill the rest of the file: no holes, no overlaps, nothing behind.
void check_layout(std::vector<Entry> entries, int64_t data_bytes, const std::string& path) {
  std::sort(entries.begin(), entries.end(), [](const Entry& left, const Entry& right) {
    return std::pair(left.begin, left.end) < std::pair(right.begin, right.end);
  });
  int64_t position = 0;
  for (const Entry& entry : entries) {
    if (entry.begin != position)
      refuse(path, text("tensor ", shown(entry.name), " begins at byte ", entry.begin, " where ",
                        position, " is expected: tensors overlap or leave a hole"));
    position = entry.end;
  }
  if (position != data_bytes)
    refuse(path, text("its tensors need ", position, " bytes of data, but it has ", data_bytes,
                      position > data_bytes ? "; it is truncated" : "; there is something behind"));
}

std::map<std::string, std::string> read_metadata(const json& value, const std::string& path) {
  if (!value.is_object()) refuse(path, "its metadata is not a JSON object");
  std::map<std::string, std::string> metadata;
  for (const auto& item : value.items()) {
    if (!item.value().is_string())
      refuse(path, text("the metadata ", shown(item.key()), " is not a text"));
    metadata[item.key()] = item.value().get<std::string>();
  }
  return metadata;
}

Tensor read_tensor(const InputFile& file, const Entry& entry, int64_t data_begin) {
  Tensor tensor = torch::empty(entry.shape, entry.dtype->type);
  auto* bytes = static_cast<char*>(tensor.data_ptr());
  const auto size = static_cast<size_t>(entry.end - entry.begin);
  if (size > 0) file.read_exactly(data_begin + entry.begin, bytes, size);
  if (entry.dtype->type == torch::kBool)
    for (size_t i = 0; i < size; ++i)
      if (bytes[i] != 0 && bytes[i] != 1)
        refuse(file.name(), text("tensor ", shown(entry.name), " has a byte ",
                                 int{static_cast<unsigned char>(bytes[i])}, " among its booleans"));
  return tensor;
}

}  // namespace

void save_safetensors(const std::string& path, const TensorFile& content) {
  const std::vector<Part> parts = ordered_parts(content);
  const std::string header = header_text(parts, content.metadata);
  const uint64_t length = header.size();
  OutputFile file(path);
  file.write({reinterpret_cast<const char*>(&length), length_bytes});
  file.write(header);
  for (const Part& part : parts)
    file.write({static_cast<const char*>(part.tensor.data_ptr()), part.tensor.nbytes()});
  file.commit();
}

TensorFile load_safetensors(const std::string& path) {
  const InputFile file(path);
  const std::string header_bytes = read_header(file);
  const json header = parse_header(header_bytes, path);
  const int64_t data_begin = length_bytes + static_cast<int64_t>(header_bytes.size());
  TensorFile content;
  std::vector<Entry> entries;
  for (const auto& item : header.items()) {
    if (item.key() == metadata_key)
      content.metadata = read_metadata(item.value(), path);
    else
      entries.push_back(read_entry(item.key(), item.value(), path));
  }
  check_layout(entries, file.size() - data_begin, path);
  for (const Entry& entry : entries)
    content.tensors.emplace_back(entry.name, read_tensor(file, entry, data_begin));
  return content;
}

}  // namespace dre
