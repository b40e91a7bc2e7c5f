#include "dre/data/png.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include "tests/data/files.h"

namespace dre {
namespace {

using namespace dre::testing;

uint32_t number(const std::string& bytes, size_t at) {
  uint32_t value = 0;
  for (size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
  return value;
}

struct Chunk {
  std::string type, data;
};

/// All chunks of a file, their checksums verified.
std::vector<Chunk> chunks(const std::string& bytes) {
  EXPECT_EQ(bytes.substr(0, 8), "\x89PNG\r\n\x1A\n");
  std::vector<Chunk> all;
  for (size_t at = 8; at < bytes.size();) {
    const size_t size = number(bytes, at);
    const std::string body = bytes.substr(at + 4, 4 + size);
    const auto* begin = reinterpret_cast<const Bytef*>(body.data());
    EXPECT_EQ(number(bytes, at + 8 + size), ::crc32_z(0, begin, body.size()));
    all.push_back({body.substr(0, 4), body.substr(4)});
    at += 12 + size;
  }
  return all;
}

TEST(Png, HoldsSizeAndPixels) {
  Directory directory;
  const Tensor image = torch::arange(6, torch::kUInt8).mul(40).view({2, 3});
  save_png(directory.path("a.png"), image);
  const auto all = chunks(directory.read("a.png"));
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].type, "IHDR");
  EXPECT_EQ(number(all[0].data, 0), 3u);
  EXPECT_EQ(number(all[0].data, 4), 2u);
  EXPECT_EQ(all[0].data.substr(8), (std::string{"\x08\0\0\0\0", 5}));
  std::string lines(8, '\1');
  uLongf size = lines.size();
  const auto* packed = reinterpret_cast<const Bytef*>(all[1].data.data());
  ASSERT_EQ(::uncompress(reinterpret_cast<Bytef*>(lines.data()), &size, packed, all[1].data.size()),
            Z_OK);
  EXPECT_EQ(lines, (std::string{"\0\0\x28\x50\0\x78\xA0\xC8", 8}));
  EXPECT_EQ(all[2].type, "IEND");
}

TEST(Png, OtherThingsThanImagesAreRefused) {
  Directory directory;
  EXPECT_THROW(save_png(directory.path("a.png"), torch::zeros({2, 3})), Error);
  EXPECT_THROW(save_png(directory.path("a.png"), torch::zeros({2}, torch::kUInt8)), Error);
}

TEST(ImageGrid, PutsImagesInRows) {
  const Tensor pixels = torch::arange(1, 4, torch::kUInt8).unsqueeze(1).expand({3, 2});  // 1 x 2
  const Tensor grid = image_grid(pixels, 1, 2);
  const Tensor expected =
      torch::tensor({1, 1, 0, 0, 2, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3, 3, 0, 0, 0, 0},
                    torch::kUInt8)
          .view({4, 6});
  EXPECT_TRUE(torch::equal(grid, expected)) << grid;
}

}  // namespace
}  // namespace dre
