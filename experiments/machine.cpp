#include "experiments/machine.h"

#include <glob.h>
#include <sys/utsname.h>

#include <fstream>
#include <thread>

#include "dre/base/error.h"
#include "dre/base/version.h"

namespace dre::experiments {
namespace {

/// The first "name: value" of a file of such lines; empty where there is none.
std::string field(const std::string& path, const std::string& name) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(name)) continue;
    const size_t value = line.find_first_not_of(" \t", line.find(':') + 1);
    return value == std::string::npos ? "" : line.substr(value);
  }
  return "";
}

std::string graphics_card() {
  glob_t found{};
  std::string name;
  if (::glob("/proc/driver/nvidia/gpus/*/information", 0, nullptr, &found) == 0)
    name = field(found.gl_pathv[0], "Model");
  ::globfree(&found);
  return name;
}

}  // namespace

std::string machine() {
  utsname system{};
  ::uname(&system);
  const std::string processor = field("/proc/cpuinfo", "model name"), card = graphics_card();
  return text(system.machine, processor.empty() ? "" : text(", ", processor), ", ",
              std::thread::hardware_concurrency(), " cores", card.empty() ? "" : text(", ", card),
              ", LibTorch ", torch_version());
}

}  // namespace dre::experiments
