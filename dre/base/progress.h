/// How long work tells what it is doing. The base class is silent; the tool shows a bar, tests
/// record.
#pragma once

#include <cstdint>
#include <string>

namespace dre {

class Progress {
 public:
  virtual ~Progress() = default;

  /// A stage begins: "training which-time", of `total` steps (0 when unknown).
  virtual void begin(const std::string& /*stage*/, int64_t /*total*/) {}

  /// `done` steps of the stage are finished; `note` is short ("held-out 0.412").
  virtual void advance(int64_t /*done*/, const std::string& /*note*/) {}

  virtual void end() {}

  /// Something the user should know; `code` is stable ("constant-column") and listed in the
  /// documentation.
  virtual void warn(const std::string& /*code*/, const std::string& /*message*/) {}

  /// Asked between steps; true makes the work stop at the next safe point, as Ctrl-C does.
  virtual bool stop_requested() { return false; }
};

}  // namespace dre
