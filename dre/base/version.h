/// Which library this is.
#pragma once

#include <string>

namespace dre {

/// "0.1.0"
std::string version();

/// The LibTorch this library was built with, "1.13.0".
std::string torch_version();

}  // namespace dre
