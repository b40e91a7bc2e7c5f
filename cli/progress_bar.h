/// Progress for people: a bar on a terminal, warnings on standard error, Ctrl-C as a request to
/// stop.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "dre/base/progress.h"
#include "dre/base/warning.h"

namespace dre::cli {

/// While it lives, the first SIGINT or SIGTERM is a request to stop; from a second later on, also
/// after its end, another one kills.
class StopSignals final {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  static bool requested();
};

class ProgressBar final : public Progress {
 public:
  /// `who` begins every message: "dre fit". Quiet: nothing is drawn and no
  /// warning is printed; warnings are kept.
  ProgressBar(std::string who, bool quiet);
  ~ProgressBar() override { clear(); }

  void begin(const std::string& stage, int64_t total) override;
  void advance(int64_t done, const std::string& note) override;
  void end() override { clear(); }
  void warn(const std::string& code, const std::string& message) override;
  void warn(const std::vector<Warning>& warnings);
  bool stop_requested() override { return StopSignals::requested(); }

  /// Tells, quiet or not, that a stop ended the work, and what is left of it; the exit code.
  int interrupted(const std::string& left);

  const std::vector<Warning>& warnings() const { return warnings_; }

 private:
  using Clock = std::chrono::steady_clock;

  std::string line(int64_t done, const std::string& note) const;
  void clear();

  std::string who_;
  bool quiet_, shows_bar_;
  bool drawn_ = false;
  std::string stage_;
  int64_t total_ = 0, first_ = -1;
  Clock::time_point start_, last_;
  std::vector<Warning> warnings_;
};

}  // namespace dre::cli
