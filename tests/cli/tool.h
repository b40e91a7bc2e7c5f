/// The tool as its users meet it: its own process, files in a directory that goes away, both output
/// streams and the exit code.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/data/files.h"

namespace dre::testing {

using Arguments = std::vector<std::string>;

/// A variable of the environment, which the tool inherits; empty: it is not set.
class Variable final {
 public:
  Variable(const std::string& name, const std::string& value) : name_(name) {
    if (const char* before = std::getenv(name.c_str())) before_ = before;
    set(value);
  }
  ~Variable() { set(before_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  void set(const std::string& value) const {
    if (value.empty())
      ::unsetenv(name_.c_str());
    else
      ::setenv(name_.c_str(), value.c_str(), 1);
  }

  std::string name_, before_;
};

struct Outcome {
  int code = -1;  ///< exit code; minus the signal where one ended the process
  std::string out, err;
  long peak_kib = 0;  ///< largest resident memory
};

struct RunOptions {
  std::string input;             ///< bytes of standard input
  rlim_t largest_file = 0;       ///< bytes; 0: no limit
  std::string streams = ".std";  ///< processes that run at once need files of their own
};

/// Starts the tool in `directory`, which gets the files .std.in, .std.out and .std.err.
class Process {
 public:
  Process(const Directory& directory, const Arguments& arguments, const RunOptions& options = {})
      : directory_(directory), streams_(options.streams) {
    directory.write(streams_ + ".in", options.input);
    std::vector<char*> argv = {const_cast<char*>(DRE_TOOL)};
    for (const auto& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);
    id_ = ::fork();
    if (id_ == 0) become(argv.data(), options);
  }

  Outcome wait() {
    int status = 0;
    rusage usage{};
    ::wait4(id_, &status, 0, &usage);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status),
            directory_.read(streams_ + ".out"), directory_.read(streams_ + ".err"),
            usage.ru_maxrss};
  }

  /// Whether it has not ended.
  bool lives() const {
    siginfo_t state{};
    return ::waitid(P_PID, static_cast<id_t>(id_), &state, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           state.si_pid == 0;
  }

  /// Waits until the tool handles Ctrl-C, for two minutes at most, and sends it, or another signal.
  void interrupt(int signal = SIGINT, int times = 1) {
    for (int tries = 0; tries < 12000 && !handles(signal); ++tries)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    for (int i = 0; i < times; ++i) {
      ::kill(id_, signal);
      // Two that wait together would be one.
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }

 private:
  [[noreturn]] void become(char** argv, const RunOptions& options) {
    if (::chdir(directory_.path("").c_str()) != 0) ::_exit(99);
    ::setenv("OMP_NUM_THREADS", "1", 1);
    ::dup2(::open((streams_ + ".in").c_str(), O_RDONLY), STDIN_FILENO);
    const int flags = O_WRONLY | O_CREAT | O_TRUNC;
    ::dup2(::open((streams_ + ".out").c_str(), flags, 0600), STDOUT_FILENO);
    ::dup2(::open((streams_ + ".err").c_str(), flags, 0600), STDERR_FILENO);
    if (options.largest_file > 0) {
      const rlimit limit{options.largest_file, options.largest_file};
      ::signal(SIGXFSZ, SIG_IGN);
      ::setrlimit(RLIMIT_FSIZE, &limit);
    }
    ::execv(DRE_TOOL, argv);
    ::_exit(98);
  }

  /// The bit of the signal in the mask of caught ones; true as well when the process is gone.
  bool handles(int signal) const {
    std::ifstream status("/proc/" + std::to_string(id_) + "/status");
    for (std::string line; std::getline(status, line);) {
      if (line.starts_with("State:") && line.find('Z') != std::string::npos) return true;
      if (line.starts_with("SigCgt:"))
        return std::stoull(line.substr(7), nullptr, 16) >> (signal - 1) & 1;
    }
    return true;
  }

  const Directory& directory_;
  std::string streams_;
  pid_t id_;
};

inline Outcome run_tool(const Directory& directory, const Arguments& arguments,
                        const RunOptions& options = {}) {
  return Process(directory, arguments, options).wait();
}

/// Waits until a running tool has written something to a file, for two minutes at most.
inline void wait_for_text(const Directory& directory, const std::string& file) {
  const auto there = [&] {
    return std::filesystem::exists(directory.path(file)) && !directory.read(file).empty();
  };
  for (int tries = 0; tries < 24000 && !there(); ++tries)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
}

/// Rows of independent normal numbers, [rows][columns].
using Rows = std::vector<std::vector<double>>;

inline Rows normal_rows(int rows, int columns, double mean, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<double> draw(mean, 1);
  Rows out(rows, std::vector<double>(columns));
  for (auto& row : out)
    for (auto& value : row) value = draw(generator);
  return out;
}

inline std::string csv(const Rows& rows, const std::string& header) {
  std::ostringstream out;
  out.precision(17);
  out << header << '\n';
  for (const auto& row : rows)
    for (size_t j = 0; j < row.size(); ++j) out << row[j] << (j + 1 < row.size() ? ',' : '\n');
  return out.str();
}

inline std::string npy_of(const Rows& rows) {
  std::vector<double> all;
  for (const auto& row : rows) all.insert(all.end(), row.begin(), row.end());
  return npy("<f8", "(" + std::to_string(rows.size()) + ", " + std::to_string(rows[0].size()) + ")",
             bytes_of(all));
}

/// "a.csv" ~ N(0.7, I) and "b.csv" ~ N(0, I), columns x0 and x1.
inline void write_sides(const Directory& directory, int rows = 400) {
  directory.write("a.csv", csv(normal_rows(rows, 2, 0.7, 1), "x0,x1"));
  directory.write("b.csv", csv(normal_rows(rows, 2, 0, 2), "x0,x1"));
}

inline Arguments operator+(Arguments first, const Arguments& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

/// A fit that takes a second. Quiet, as warnings about the weights of so few rows come and go.
inline Arguments fit_with(const Arguments& more, const std::string& out = "m.safetensors") {
  return Arguments{
             "fit",     "--quiet", "--out",     out, "--steps", "60",    "--width",          "32",
             "--batch", "64",      "--threads", "1", "--rate",  "0.003", "--evaluate-every", "20"} +
         more;
}

inline Arguments two_files(const std::string& numerator = "a.csv",
                           const std::string& denominator = "b.csv") {
  return {"--numerator", numerator, "--denominator", denominator};
}

/// The numbers of a csv output, without its header.
inline Rows numbers(const std::string& out) {
  std::istringstream lines(out);
  std::string line, cell;
  std::getline(lines, line);
  Rows rows;
  while (std::getline(lines, line)) {
    std::istringstream cells(line);
    rows.emplace_back();
    while (std::getline(cells, cell, ',')) rows.back().push_back(std::stod(cell));
  }
  return rows;
}

/// log r of `input` by the model, which must work.
inline Rows rate(const Directory& directory, const std::string& input,
                 const std::string& model = "m.safetensors", const Arguments& more = {}) {
  const Outcome outcome =
      run_tool(directory, Arguments{"ratio", "--model", model, "--input", input} + more);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  const Rows found = numbers(outcome.out);
  EXPECT_FALSE(found.empty());
  return found;
}

inline void expect_fine(const Outcome& outcome) {
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.err, "");
}

}  // namespace dre::testing
