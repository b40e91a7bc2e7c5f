/// The machine that a result comes from, in words.
#pragma once

#include <string>

namespace dre::experiments {

/// "aarch64, 2 cores, LibTorch 1.13.0", with the processor's and the graphics card's name where the
/// system tells them.
std::string machine();

}  // namespace dre::experiments
