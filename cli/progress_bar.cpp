#include "cli/progress_bar.h"

#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <ctime>
#include <iostream>
#include <utility>

#include "cli/command.h"
#include "dre/base/error.h"

namespace dre::cli {
namespace {

// Milliseconds of a clock that never goes back, 0 before a request. Two threads may be in the
// handler at once, which can reach nothing else.
std::atomic<int64_t> stop_requested_at = 0;
static_assert(std::atomic<int64_t>::is_always_lock_free);

int64_t milliseconds_now() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t{1000} * now.tv_sec + now.tv_nsec / 1'000'000;
}

/// Of signals within a second only the first counts: timeout and service managers send one to the
/// process and one to its group, and both mean the same.
void request_stop(int signal) {
  const int64_t now = milliseconds_now();
  int64_t first = 0;
  if (stop_requested_at.compare_exchange_strong(first, now) || now < first + 1000) return;
  ::signal(signal, SIG_DFL);
  ::raise(signal);
}

size_t terminal_width() {
  winsize size{};
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

std::string clock_time(double seconds) {
  const auto whole = static_cast<long>(seconds + 0.5);
  char out[32];
  std::snprintf(out, sizeof out, "%ld:%02ld", whole / 60, whole % 60);
  return out;
}

}  // namespace

StopSignals::StopSignals() {
  stop_requested_at = 0;
  struct sigaction action {};
  action.sa_handler = request_stop;
  action.sa_flags = SA_RESTART;
  for (const int signal : {SIGINT, SIGTERM}) ::sigaction(signal, &action, nullptr);
}

StopSignals::~StopSignals() {
  // The second of two signals may come while the process is on its way out.
  if (requested()) return;
  for (const int signal : {SIGINT, SIGTERM}) ::signal(signal, SIG_DFL);
}

bool StopSignals::requested() { return stop_requested_at != 0; }

ProgressBar::ProgressBar(std::string who, bool quiet)
    : who_(std::move(who)), quiet_(quiet), shows_bar_(!quiet && ::isatty(STDERR_FILENO) != 0) {}

void ProgressBar::begin(const std::string& stage, int64_t total) {
  stage_ = stage;
  total_ = total;
  first_ = -1;
  start_ = Clock::now();
  last_ = {};
}

void ProgressBar::advance(int64_t done, const std::string& note) {
  if (!shows_bar_) return;
  if (first_ < 0) first_ = done;
  const auto now = Clock::now();
  if (now - last_ < std::chrono::milliseconds(100)) return;
  last_ = now;
  std::cerr << "\r\033[K" << line(done, note).substr(0, terminal_width() - 1) << std::flush;
  drawn_ = true;
}

std::string ProgressBar::line(int64_t done, const std::string& note) const {
  const std::string tail = note.empty() ? "" : "  " + note;
  if (total_ <= 0) return text(stage_, "  ", done, tail);
  const int64_t cells = 24, full = std::min(cells, cells * done / total_);
  const std::string bar = std::string(static_cast<size_t>(full), '#') +
                          std::string(static_cast<size_t>(cells - full), '.');
  // A resumed run begins in the middle: only what was done now tells the speed.
  const double elapsed = std::chrono::duration<double>(Clock::now() - start_).count();
  const auto made = static_cast<double>(done - std::min(first_, done));
  const std::string left =
      made > 0 ? text("  ", clock_time(elapsed * static_cast<double>(total_ - done) / made),
                      " left at most")
               : "";
  return text(stage_, " [", bar, "] ", done, "/", total_, tail, left);
}

void ProgressBar::warn(const std::string& code, const std::string& message) {
  warnings_.push_back({code, message});
  if (quiet_) return;
  clear();
  std::cerr << who_ << ": warning: " << message << " [" << code << "]" << std::endl;
}

void ProgressBar::warn(const std::vector<Warning>& warnings) {
  for (const auto& [code, message] : warnings) warn(code, message);
}

int ProgressBar::interrupted(const std::string& left) {
  clear();
  std::cerr << who_ << ": interrupted; " << left << std::endl;
  return exit_interrupted;
}

void ProgressBar::clear() {
  if (drawn_) std::cerr << "\r\033[K" << std::flush;
  drawn_ = false;
}

}  // namespace dre::cli
