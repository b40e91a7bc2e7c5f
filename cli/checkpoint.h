/// The state of an unfinished fit in a file beside the model: who may go on from it, and who not.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "dre/base/named_tensors.h"

namespace dre::cli {

class CheckpointFile final {
 public:
  /// options, data: what decides the fit; only a run with the same may go on.
  CheckpointFile(const std::string& model_path, nlohmann::json options, nlohmann::json data);

  const std::string& path() const { return path_; }
  bool exists() const;

  void save(const NamedTensors& state);
  bool saved() const { return saved_; }

  /// Usage error where the options differ, data error where the data or the file itself do.
  NamedTensors load() const;

  void remove() const;

 private:
  std::string path_;
  nlohmann::json options_, data_;
  bool saved_ = false;
};

}  // namespace dre::cli
