/// The state of an unfinished fit in a file beside the model: who may go on from it, and who not.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "dre/base/named_tensors.h"
#include "dre/base/progress.h"
#include "dre/data/safetensors.h"

namespace dre::cli {

/// Whether a file holds the state of an unfinished fit.
bool is_checkpoint(const TensorFile& file);

class CheckpointFile final {
 public:
  /// options, data: what decides the fit; only a run with the same may go on. companions: other
  /// files that a fit writes while it runs, its log.
  CheckpointFile(const std::string& model_path, nlohmann::json options, nlohmann::json data,
                 const std::vector<std::string>& companions = {});

  const std::string& path() const { return path_; }

  void save(const NamedTensors& state);

  /// What a run starts from: the state, or nothing where none is wanted or there is none, with a
  /// warning where that may surprise; what an earlier fit left is then set aside, as NAME.before.
  /// Usage error where the options differ, where only such a state could be meant, or where there
  /// is none but a model; data error where the data or the file itself differ.
  NamedTensors start(bool resume, Progress& progress) const;

  /// The fit is finished: nobody will go on from its state, or from one that it set aside.
  void remove() const;

  /// "the state is in ...", with the way to go on from it.
  std::string where_it_stands() const;

 private:
  bool exists() const;
  NamedTensors load() const;
  std::vector<std::string> existing(const std::string& ending) const;
  std::vector<std::string> set_aside() const;

  std::string model_, path_;
  std::vector<std::string> files_;  ///< the checkpoint and its companions
  nlohmann::json options_, data_;
};

}  // namespace dre::cli
