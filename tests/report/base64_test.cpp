#include "dre/report/base64.h"

#include <gtest/gtest.h>

namespace dre::report {
namespace {

/// The examples of RFC 4648, and bytes beyond ASCII.
TEST(Base64, WritesBytesOfEveryLength) {
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foo"), "Zm9v");
  EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(base64(std::string_view("\xFB\xFF\0", 3)), "+/8A");
}

}  // namespace
}  // namespace dre::report
