#include "experiments/store.h"

#include <sys/stat.h>

#include <cctype>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <utility>

#include "dre/base/error.h"
#include "dre/base/version.h"
#include "dre/data/output.h"

namespace dre::experiments {
namespace {

const char* size_name(Size size) {
  return size == Size::full ? "full" : size == Size::quick ? "quick" : "smoke";
}

Json key(const Cell& cell, const Settings& settings) {
  return {{"row", cell.row},
          {"seed", cell.seed},
          {"options", cell.options},
          {"size", size_name(settings.size)},
          {"version", version()}};
}

}  // namespace

// Not by std::filesystem: the LibTorch of the Python packages exports a broken one.
void make_folders(const std::string& path) {
  for (size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
    const std::string part = path.substr(0, end);
    const bool made = ::mkdir(part.c_str(), 0777) == 0 || errno == EEXIST;
    check_data(made, "cannot make the folder ", part, ": ", std::strerror(errno));
    if (end == std::string::npos) return;
  }
}

Store::Store(std::string folder) : folder_(std::move(folder)) {
  if (folder_.empty()) return;
  make_folders(folder_);
  check_writable(folder_ + "/test");
}

std::string Store::path(const Cell& cell) const {
  std::string name;
  for (const char c : cell.name()) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '-';
    if (plain || (!name.empty() && name.back() != '_')) name += plain ? c : '_';
  }
  return folder_ + "/" + name + ".json";
}

std::optional<Json> Store::load(const Cell& cell, const Settings& settings) const {
  if (folder_.empty()) return std::nullopt;
  std::ifstream file(path(cell));
  if (!file) return std::nullopt;
  const Json stored = Json::parse(file, nullptr, /*allow_exceptions=*/false);
  const bool same =
      stored.is_object() && stored.contains("result") && stored["key"] == key(cell, settings);
  if (!same) return std::nullopt;  // of another run: computed anew and replaced
  return stored["result"];
}

void Store::save(const Cell& cell, const Settings& settings, const Json& result) const {
  if (folder_.empty()) return;
  OutputFile file(path(cell));
  file.write(Json{{"key", key(cell, settings)}, {"result", result}}.dump(1) + "\n");
  file.commit();
}

}  // namespace dre::experiments
