/// Commands with actions, as in `dre flow fit`: what all actions share.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/flags.h"
#include "cli/output.h"
#include "cli/processors.h"
#include "dre/base/context.h"
#include "dre/base/names.h"

namespace dre::cli {

/// argv[0] is the action's name.
using Action = int (*)(int argc, char** argv);

/// Runs the action that argv[1] names. `command`: "dre flow"; `summary`: what it is for.
int run_action(const std::string& command, const std::string& summary,
               const std::vector<Named<Action>>& actions, int argc, char** argv);

/// Where to compute, and the random streams.
struct Machine {
  int64_t seed = 0;
  std::string device = "auto";
  Processors processors;

  void visit(OptionVisitor& v);

  /// Sets up the processors for networks on images, too.
  Context context() const;
};

/// Flags, configuration file and help of one action; `defaults` runs before what was given is
/// applied, and may look at it. False: the run ends here.
template <class Config>
bool read_arguments(CLI::App& app, Flags& flags, Config& config, RunFlags& run, int argc,
                    char** argv, const std::function<void()>& defaults = {}) {
  config.visit(flags);
  run.add_config(app);
  run.add_format(app);
  run.add_quiet(app);
  return settle(config, app, flags, run, argc, argv, defaults);
}

}  // namespace dre::cli
