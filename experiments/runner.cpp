#include "experiments/runner.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <mutex>
#include <thread>

#include "dre/base/error.h"
#include "dre/base/threads.h"
#include "experiments/machine.h"
#include "experiments/store.h"

namespace dre::experiments {
namespace {

/// What a cell says while it works: alone it shows its own stages, beside others it is silent and
/// only hears when to stop.
class CellProgress final : public Progress {
 public:
  CellProgress(Progress& outer, std::string name, bool shown)
      : outer_(outer), name_(std::move(name)), shown_(shown) {}

  void begin(const std::string& stage, int64_t total) override {
    if (shown_) outer_.begin(text(name_, ": ", stage), total);
  }
  void advance(int64_t done, const std::string& note) override {
    if (shown_) outer_.advance(done, note);
  }
  void end() override {
    if (shown_) outer_.end();
  }
  bool stop_requested() override { return outer_.stop_requested(); }

 private:
  Progress& outer_;
  std::string name_;
  bool shown_;
};

class Runner {
 public:
  Runner(const Settings& settings, const RunOptions& options, Progress& progress)
      : settings_(settings),
        options_(options),
        progress_(progress),
        store_(options.cells, options.earlier),
        device_(device_by_name(options.device)) {}

  RunReport run(std::vector<Cell> cells) {
    take_stored(cells);
    const int64_t jobs =
        std::min<int64_t>(options_.jobs, std::max<int64_t>(1, static_cast<int64_t>(todo_.size())));
    alone_ = jobs == 1;
    if (!alone_) progress_.begin("cells", static_cast<int64_t>(todo_.size()));
    std::vector<std::thread> others;
    for (int64_t i = 1; i < jobs; ++i) others.emplace_back([this, jobs] { work(jobs); });
    work(jobs);
    for (auto& thread : others) thread.join();
    if (!alone_) progress_.end();
    if (not_saved_) std::rethrow_exception(not_saved_);
    run_.interrupted = interrupted_;
    run_.missing += static_cast<int64_t>(todo_.size()) - run_.computed -
                    static_cast<int64_t>(run_.failures.size());
    return std::move(run_);
  }

 private:
  void take_stored(std::vector<Cell>& cells) {
    for (auto& cell : cells) {
      if (const auto stored = store_.load(cell, settings_)) {
        keep(cell, *stored);
        store_.save(cell, settings_, *stored);  // it may have come from another run's file
        ++run_.reused;
      } else if (cell.name().find(options_.only) != std::string::npos) {
        todo_.push_back(std::move(cell));
      } else {
        ++run_.missing;
      }
    }
  }

  void work(int64_t jobs) {
    // The number of threads belongs to the thread that sets it.
    const int64_t cores = std::max(1U, std::thread::hardware_concurrency());
    const int64_t share =
        options_.threads > 0 ? options_.threads : std::max<int64_t>(1, cores / jobs);
    use_threads(!alone_ || options_.threads > 0 ? static_cast<int>(share) : 0);
    for (size_t i = next_++; i < todo_.size() && !interrupted_; i = next_++) attempt(todo_[i]);
  }

  void attempt(const Cell& cell) {
    CellProgress inner(progress_, cell.name(), alone_);
    const Context context{device_, torch::kFloat32, static_cast<uint64_t>(cell.seed)};
    const auto start = std::chrono::steady_clock::now();
    std::string failure;
    Json result;
    try {
      result = cell.run(context, inner);
    } catch (const Interrupted&) {
      interrupted_ = true;
      return;
    } catch (const std::exception& error) {
      failure = text(cell.name(), ": ", error.what());
    }
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    const std::lock_guard<std::mutex> lock(mutex_);
    if (failure.empty()) {
      result["seconds"] = elapsed.count();
      result["machine"] = machine_;
      keep(cell, result);
      ++run_.computed;
      save(cell, result);
    } else {
      run_.failures.push_back(failure);
      progress_.warn("cell-failed", failure);
    }
    const auto done = run_.computed + static_cast<int64_t>(run_.failures.size());
    if (!alone_) progress_.advance(done, cell.name());
  }

  /// Where a cell cannot be saved no other is begun; the error waits for those that run.
  void save(const Cell& cell, const Json& result) {
    try {
      store_.save(cell, settings_, result);
    } catch (const std::exception&) {
      not_saved_ = std::current_exception();
      next_ = todo_.size();
    }
  }

  void keep(const Cell& cell, const Json& result) {
    run_.seconds += result.value("seconds", 0.0);
    run_.results.add(cell, result);
    run_.cells.push_back(record(cell, settings_, result));
    run_.machines.insert(result.value("machine", "a machine that is not named"));
  }

  const Settings& settings_;
  const RunOptions& options_;
  Progress& progress_;
  Store store_;
  torch::Device device_;
  std::string machine_ = machine();
  std::vector<Cell> todo_;
  std::atomic<size_t> next_ = 0;
  std::atomic<bool> interrupted_ = false;
  std::mutex mutex_;
  std::exception_ptr not_saved_;
  bool alone_ = true;
  RunReport run_;
};

}  // namespace

RunReport run_cells(const Experiment& experiment, const Settings& settings,
                    const RunOptions& options, Progress& progress) {
  check(options.jobs >= 1, "jobs must be at least 1, got ", options.jobs);
  check(options.jobs == 1 || !experiment.describe().ordered,
        "cells of this experiment need what earlier ones leave: use --jobs 1, or processes of "
        "their own with --only");
  check(settings.seeds >= 1, "seeds must be at least 1, got ", settings.seeds);
  experiment.check_settings(settings);
  std::vector<Cell> cells = experiment.cells(settings);
  const bool any = std::any_of(cells.begin(), cells.end(), [&](const Cell& cell) {
    return cell.name().find(options.only) != std::string::npos;
  });
  check(any || !options.earlier.empty(), "no cell's name contains '", options.only,
        "'; the first is '", cells.front().name(), "'");
  RunReport report = Runner(settings, options, progress).run(std::move(cells));
  check(any || report.reused > 0, "no cell of ", options.earlier,
        " is of this experiment with these settings, and no cell's name contains '", options.only,
        "'");
  return report;
}

}  // namespace dre::experiments
