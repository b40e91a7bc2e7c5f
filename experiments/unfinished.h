/// The state of an unfinished fit in a file: the run that comes next goes on from it.
#pragma once

#include <optional>
#include <string>

#include "dre/base/named_tensors.h"
#include "experiments/experiment.h"

namespace dre::experiments {

class Unfinished final {
 public:
  /// plan: what decides the fit; the state of another plan is as good as none.
  Unfinished(std::string path, Json plan);

  struct State {
    NamedTensors tensors;
    Json history;  ///< what the fit has told about itself so far
  };
  std::optional<State> load() const;
  void save(const NamedTensors& tensors, const Json& history) const;
  void remove() const;

 private:
  std::string path_;
  Json plan_;
};

}  // namespace dre::experiments
