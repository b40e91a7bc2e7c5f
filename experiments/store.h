/// Finished cells in a folder, one JSON file each: an interrupted run goes on where it stopped, and
/// processes that work on different cells share one folder.
#pragma once

#include <optional>
#include <string>

#include "experiments/experiment.h"

namespace dre::experiments {

/// Like mkdir -p; a data error where that cannot be done.
void make_folders(const std::string& path);

class Store final {
 public:
  /// An empty folder name keeps nothing. Throws a data error where the folder cannot be made.
  explicit Store(std::string folder);

  /// The stored result of the same cell with the same options and settings, by the same version.
  std::optional<Json> load(const Cell& cell, const Settings& settings) const;

  void save(const Cell& cell, const Settings& settings, const Json& result) const;

 private:
  std::string path(const Cell& cell) const;

  std::string folder_;
};

}  // namespace dre::experiments
