/// Finished cells in a folder, one JSON file each: an interrupted run goes on where it stopped, and
/// processes that work on different cells share one folder. All of them together in one file carry
/// results from one machine to another.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "experiments/experiment.h"

namespace dre::experiments {

/// Like mkdir -p; a data error where that cannot be done.
void make_folders(const std::string& path);

class Store final {
 public:
  /// An empty folder name keeps nothing. `earlier` is a file of cells, as RunReport::cells has
  /// them; empty: there is none. Throws a data error where the folder cannot be made or the file is
  /// not of that kind.
  explicit Store(std::string folder, const std::string& earlier = "");

  /// The stored result of the same cell with the same options and settings, by the same version:
  /// from the folder, or else from the file.
  std::optional<Json> load(const Cell& cell, const Settings& settings) const;

  void save(const Cell& cell, const Settings& settings, const Json& result) const;

 private:
  std::string path(const Cell& cell) const;

  std::string folder_;
  std::map<std::string, Json> earlier_;  // by the name of the cell
};

/// A cell with everything that decides it and its result: what is stored.
Json record(const Cell& cell, const Settings& settings, const Json& result);

}  // namespace dre::experiments
