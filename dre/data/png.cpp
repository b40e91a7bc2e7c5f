#include "dre/data/png.h"

#include <zlib.h>

#include "dre/base/error.h"
#include "dre/data/output.h"

namespace dre {
namespace {

std::string big_endian(uint64_t value) {
  std::string bytes(4, '\0');
  for (int i = 3; i >= 0; --i, value >>= 8)
    bytes[static_cast<size_t>(i)] = static_cast<char>(value);
  return bytes;
}

/// Length, type, data, checksum of type and data.
std::string chunk(const std::string& type, const std::string& data) {
  const std::string body = type + data;
  const uLong checksum = ::crc32_z(0, reinterpret_cast<const Bytef*>(body.data()), body.size());
  return big_endian(data.size()) + body + big_endian(checksum);
}

std::string deflated(const std::string& bytes) {
  uLongf size = ::compressBound(bytes.size());
  std::string packed(size, '\0');
  const int status = ::compress(reinterpret_cast<Bytef*>(packed.data()), &size,
                                reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
  if (status != Z_OK) fail(Error::Kind::internal, "zlib cannot pack an image: status ", status);
  packed.resize(size);
  return packed;
}

/// Every line begins with its filter, of which 0 is none.
std::string lines_of(const Tensor& image) {
  const Tensor lines = at::constant_pad_nd(image, {1, 0}).to(torch::kCPU).contiguous();
  return {reinterpret_cast<const char*>(lines.data_ptr<uint8_t>()),
          static_cast<size_t>(lines.numel())};
}

}  // namespace

std::string png_bytes(const Tensor& image) {
  check(image.dim() == 2 && image.scalar_type() == torch::kUInt8 && image.numel() > 0,
        "an image must be bytes [height, width], got ", image.toString(), " ", image.sizes());
  const std::string signature = "\x89PNG\r\n\x1A\n";
  const std::string grey_of_eight_bits{"\x08\0\0\0\0", 5};
  const std::string size = big_endian(static_cast<uint64_t>(image.size(1))) +
                           big_endian(static_cast<uint64_t>(image.size(0)));
  return signature + chunk("IHDR", size + grey_of_eight_bits) +
         chunk("IDAT", deflated(lines_of(image))) + chunk("IEND", "");
}

void save_png(const std::string& path, const Tensor& image) {
  const std::string bytes = png_bytes(image);
  OutputFile out(path);
  out.write(bytes);
  out.commit();
}

Tensor image_grid(const Tensor& pixels, int64_t height, int64_t columns) {
  check(pixels.dim() == 2 && pixels.size(0) > 0 && height > 0 && pixels.size(1) % height == 0,
        "images of height ", height, " must be [n, height * width], got ", pixels.sizes());
  check(columns > 0, "a grid needs a column at least, got ", columns);
  const int64_t gap = 2, n = pixels.size(0), width = pixels.size(1) / height;
  const int64_t rows = (n + columns - 1) / columns;
  const Tensor all = at::constant_pad_nd(pixels.to(torch::kCPU), {0, 0, 0, rows * columns - n});
  const Tensor framed =
      at::constant_pad_nd(all.view({rows, columns, height, width}), {0, gap, 0, gap});
  const Tensor grid =
      framed.permute({0, 2, 1, 3}).reshape({rows * (height + gap), columns * (width + gap)});
  return grid.slice(0, 0, -gap).slice(1, 0, -gap).contiguous();
}

}  // namespace dre
