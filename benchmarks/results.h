/// What the accuracy benchmark has measured so far: kept in a JSON file, so that an interrupted run
/// goes on where it stopped, and shown as a Markdown table.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "benchmarks/measure.h"

namespace dre::benchmarks {

struct Cell {
  std::string pair, method;
  int64_t rows;
  uint64_t seed;
  auto operator<=>(const Cell&) const = default;
};

class Results final {
 public:
  /// Reads `path` where it exists, and checks that it can be written before any work is done; an
  /// empty path keeps everything in memory.
  explicit Results(std::string path);

  bool has(const Cell& cell) const { return scores_.count(cell) > 0; }

  /// Adds and saves; the file is written aside and renamed, so it is always whole.
  void add(const Cell& cell, const Score& score);

  /// The mean over seeds 0 .. seeds-1; nothing unless all of them are there.
  std::optional<Score> mean(const std::string& pair, const std::string& method, int64_t rows,
                            int64_t seeds) const;

 private:
  void load();
  void save() const;

  std::string path_;
  std::map<Cell, Score> scores_;
};

/// A line of the table: the pair and what a reader needs to know of it.
struct PairLine {
  std::string name;
  int64_t dimension;
  double kl;
};

struct Selection {
  std::vector<PairLine> pairs;
  std::vector<std::string> methods;
  int64_t rows, seeds;
};

/// Pairs down, methods across, mean MSE over seeds in the cells; the geometric mean over the pairs
/// and the mean seconds a fit at the bottom. A dash where cells are missing.
std::string markdown(const Results& results, const Selection& selection);

}  // namespace dre::benchmarks
