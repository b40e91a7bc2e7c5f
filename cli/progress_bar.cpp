#include "cli/progress_bar.h"

#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <utility>

#include "dre/base/error.h"

namespace dre::cli {
namespace {

// A signal handler can reach nothing else.
volatile sig_atomic_t stop_flag = 0;

void request_stop(int) { stop_flag = 1; }

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
  stop_flag = 0;
  struct sigaction action {};
  action.sa_handler = request_stop;
  action.sa_flags = static_cast<int>(SA_RESTART | SA_RESETHAND);
  for (const int signal : {SIGINT, SIGTERM}) ::sigaction(signal, &action, nullptr);
}

StopSignals::~StopSignals() {
  for (const int signal : {SIGINT, SIGTERM}) ::signal(signal, SIG_DFL);
}

bool StopSignals::requested() { return stop_flag != 0; }

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

void ProgressBar::clear() {
  if (drawn_) std::cerr << "\r\033[K" << std::flush;
  drawn_ = false;
}

}  // namespace dre::cli
