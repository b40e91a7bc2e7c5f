#include "dre/data/idx.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include "tests/data/files.h"

namespace dre {
namespace {

using namespace dre::testing;

/// Two rows of three bytes.
const std::string small_images{"\0\0\x08\x02\0\0\0\x02\0\0\0\x03\x01\x02\x03\x04\x05\xFF", 18};

std::string refusal(const std::string& bytes) {
  Directory directory;
  try {
    read_idx(directory.write("a.idx", bytes));
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), Error::Kind::data);
    return error.what();
  }
  return "";
}

TEST(Idx, ShapeAndBytesAreThoseOfTheFormat) {
  Directory directory;
  const Tensor values = read_idx(directory.write("a.idx", small_images));
  EXPECT_TRUE(
      torch::equal(values, torch::tensor({1, 2, 3, 4, 5, 255}, torch::kUInt8).view({2, 3})));
}

TEST(Idx, PackedFilesAreUnpacked) {
  Directory directory;
  const gzFile file = gzopen(directory.path("a.gz").c_str(), "wb");
  gzwrite(file, small_images.data(), static_cast<unsigned>(small_images.size()));
  gzclose(file);
  EXPECT_TRUE(torch::equal(read_idx(directory.path("a.gz")),
                           read_idx(directory.write("a.idx", small_images))));
}

TEST(Idx, DamagedFilesAreRefused) {
  EXPECT_NE(refusal("").find("ends within its header"), std::string::npos);
  EXPECT_NE(refusal("PK\x03\x04zip").find("two zero bytes"), std::string::npos);
  EXPECT_NE(refusal(small_images.substr(0, 10)).find("ends within its header"), std::string::npos);
  EXPECT_NE(refusal(small_images.substr(0, 17)).find("needs 6 bytes, 5 are there"),
            std::string::npos);
  EXPECT_NE(refusal(small_images + "x").find("behind its last element"), std::string::npos);
  std::string floats = small_images;
  floats[2] = 0x0D;
  EXPECT_NE(refusal(floats).find("only unsigned bytes"), std::string::npos);
  std::string huge = small_images;
  huge[4] = huge[8] = '\x7F';
  EXPECT_NE(refusal(huge).find("claims the shape"), std::string::npos);
}

}  // namespace
}  // namespace dre
