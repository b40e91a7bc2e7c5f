/// What a refused call says.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "dre/base/error.h"

namespace dre::testing {

/// The message of the error that `body` ends with; empty where there is none.
inline std::string refusal(const std::function<void()>& body,
                           Error::Kind kind = Error::Kind::usage) {
  try {
    body();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind);
    return error.what();
  }
  return "";
}

}  // namespace dre::testing
