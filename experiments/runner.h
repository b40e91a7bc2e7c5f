/// Runs the cells of an experiment, several at once where asked, and puts their results together.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "experiments/experiment.h"

namespace dre::experiments {

struct RunOptions {
  std::string cells;  ///< folder of finished cells; empty: nothing is kept
  std::string
      only;  ///< cells whose name contains this text; empty: all. With `earlier`: maybe none
  std::string device = "auto";
  int64_t jobs = 1;          ///< cells at once
  int64_t threads = 0;       ///< of each cell on the CPU; 0: the cores shared out
  std::string earlier = "";  ///< file of cells that are not computed again; empty: none
};

struct RunReport {
  Results results;
  Json cells = Json::array();           ///< the same as records, with all that decides them
  std::set<std::string> machines = {};  ///< that they come from
  int64_t computed = 0, reused = 0, missing = 0;  ///< cells
  double seconds = 0;                             ///< of all cells together, reused ones too
  bool interrupted = false;
  std::vector<std::string> failures;  ///< "cell: what went wrong"
};

/// Everything a cell draws comes from its seed, so that its result does not depend on the others. A
/// cell that fails is named in the result; the others go on.
RunReport run_cells(const Experiment& experiment, const Settings& settings,
                    const RunOptions& options, Progress& progress);

}  // namespace dre::experiments
