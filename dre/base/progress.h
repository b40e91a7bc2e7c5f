/// How long work tells what it is doing. The base class is silent; the tool shows a bar, tests
/// record. Calls come one at a time, of work on several threads from any of these.
#pragma once

#include <cstdint>
#include <string>

namespace dre {

class Progress {
 public:
  virtual ~Progress() = default;

  /// A stage begins: "training", of `total` steps (0 when unknown).
  virtual void begin(const std::string& /*stage*/, int64_t /*total*/) {}

  /// `done` steps of the stage are finished; `note` is short ("held-out 0.412").
  virtual void advance(int64_t /*done*/, const std::string& /*note*/) {}

  virtual void end() {}

  /// Something the user should know; `code` is stable ("no-charts") and listed in the
  /// documentation. What results say of themselves is among their warnings.
  virtual void warn(const std::string& /*code*/, const std::string& /*message*/) {}

  /// Asked every some steps; true makes the work stop at the next safe point, as Ctrl-C does.
  virtual bool stop_requested() { return false; }
};

}  // namespace dre
