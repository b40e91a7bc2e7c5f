#include "dre/base/version.h"

#include <torch/version.h>

namespace dre {

std::string version() { return DRE_VERSION; }
std::string torch_version() { return TORCH_VERSION; }

}  // namespace dre
