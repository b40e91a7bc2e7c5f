#include "dre/data/idx.h"

#include "dre/base/error.h"
#include "dre/data/source.h"

namespace dre {
namespace {

constexpr unsigned char unsigned_bytes = 8;
constexpr size_t most_idx_dimensions = 8;
constexpr int64_t most_elements = int64_t{1} << 34;  // a larger claim is a damaged header

[[noreturn]] void refuse_idx(const std::string& path, const std::string& what) {
  fail(Error::Kind::data, path, " is not a usable IDX file: ", what);
}

/// The next `size` bytes of the header.
std::string header_bytes(ByteSource& source, size_t size, const std::string& path) {
  std::string bytes(size, '\0');
  if (source.read(bytes.data(), size) != size) refuse_idx(path, "it ends within its header");
  return bytes;
}

std::vector<int64_t> read_shape(ByteSource& source, const std::string& path) {
  const std::string magic = header_bytes(source, 4, path);
  if (magic[0] != 0 || magic[1] != 0) refuse_idx(path, "it does not begin with two zero bytes");
  if (static_cast<unsigned char>(magic[2]) != unsigned_bytes)
    refuse_idx(path, text("its elements have type ", int{static_cast<unsigned char>(magic[2])},
                          ", only unsigned bytes (8) are read"));
  const size_t dimensions = static_cast<unsigned char>(magic[3]);
  if (dimensions < 1 || dimensions > most_idx_dimensions)
    refuse_idx(path, text("it claims ", dimensions, " dimensions"));
  const std::string sizes = header_bytes(source, 4 * dimensions, path);
  std::vector<int64_t> shape(dimensions, 0);
  int64_t elements = 1;
  for (size_t i = 0; i < sizes.size(); ++i)
    shape[i / 4] = shape[i / 4] << 8 | static_cast<unsigned char>(sizes[i]);
  for (const int64_t size : shape) {
    if (size < 1 || size > most_elements / elements)
      refuse_idx(path, text("it claims the shape ", torch::IntArrayRef(shape)));
    elements *= size;
  }
  return shape;
}

}  // namespace

Tensor read_idx(const std::string& path) {
  const auto source = has_ending(path, ".gz") ? open_gzip(path) : std::make_unique<InputFile>(path);
  const std::vector<int64_t> shape = read_shape(*source, path);
  Tensor values = torch::empty(shape, torch::kUInt8);
  const auto size = static_cast<size_t>(values.numel());
  char* bytes = reinterpret_cast<char*>(values.data_ptr<uint8_t>());
  if (const size_t got = source->read(bytes, size); got != size)
    refuse_idx(path, text("its shape ", torch::IntArrayRef(shape), " needs ", size, " bytes, ", got,
                          " are there"));
  char rest = 0;
  if (source->read(&rest, 1) != 0) refuse_idx(path, "there are bytes behind its last element");
  return values;
}

}  // namespace dre
