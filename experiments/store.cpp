#include "experiments/store.h"

#include <sys/stat.h>

#include <cctype>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>

#include "dre/base/error.h"
#include "dre/base/version.h"
#include "dre/data/output.h"

namespace dre::experiments {
namespace {

const char* size_name(Size size) { return size == Size::full ? "full" : "quick"; }

Json key(const Cell& cell, const Settings& settings) {
  return {{"row", cell.row},
          {"seed", cell.seed},
          {"options", cell.options},
          {"size", size_name(settings.size)},
          {"version", version()}};
}

/// The result in what is stored, where it is of this very cell; null otherwise: it is of another
/// run, and will be computed anew.
Json matching(const Json& stored, const Cell& cell, const Settings& settings) {
  const bool same =
      stored.is_object() && stored.contains("result") && stored["key"] == key(cell, settings);
  return same ? stored["result"] : Json();
}

std::string cell_name(const Json& stored) {
  const Json& key = stored.at("key");
  return Cell{key.at("row"), key.at("seed"), {}, {}}.name();
}

}  // namespace

Json record(const Cell& cell, const Settings& settings, const Json& result) {
  return {{"key", key(cell, settings)}, {"result", result}};
}

// Not by std::filesystem: the LibTorch of the Python packages exports a broken one.
void make_folders(const std::string& path) {
  for (size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
    const std::string part = path.substr(0, end);
    const bool made = ::mkdir(part.c_str(), 0777) == 0 || errno == EEXIST;
    check_data(made, "cannot make the folder ", part, ": ", std::strerror(errno));
    if (end == std::string::npos) return;
  }
}

Store::Store(std::string folder, const std::string& earlier) : folder_(std::move(folder)) {
  if (!earlier.empty()) {
    check_data(!std::filesystem::is_directory(earlier), earlier,
               " is a folder; give the file NAME.cells.json in it");
    std::ifstream file(earlier);
    check_data(file.good(), earlier, ": cannot be read: ", std::strerror(errno));
    try {
      for (const Json& stored : Json::parse(file)) earlier_[cell_name(stored)] = stored;
    } catch (const Json::exception&) {
      fail(Error::Kind::data, earlier,
           " is not a file of finished cells; an experiment writes "
           "one as NAME.cells.json beside its page");
    }
  }
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
  Json found;
  if (!folder_.empty())
    if (std::ifstream file(path(cell)); file)
      found = matching(Json::parse(file, nullptr, /*allow_exceptions=*/false), cell, settings);
  if (const auto at = earlier_.find(cell.name()); found.is_null() && at != earlier_.end())
    found = matching(at->second, cell, settings);
  if (found.is_null()) return std::nullopt;
  return found;
}

void Store::save(const Cell& cell, const Settings& settings, const Json& result) const {
  if (folder_.empty()) return;
  OutputFile file(path(cell));
  file.write(record(cell, settings, result).dump(1) + "\n");
  file.commit();
}

}  // namespace dre::experiments
