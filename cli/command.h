/// The subcommands: each reads its own arguments and returns an exit code.
#pragma once

namespace dre::cli {

/// What a process tells its caller.
enum ExitCode {
  exit_fine = 0,
  exit_internal = 1,
  exit_usage = 2,
  exit_data = 3,
  exit_numerical = 4,
  exit_gate = 5,
  exit_interrupted = 130,
};

/// argv[0] is the subcommand's name. Errors leave as exceptions.
int run_fit(int argc, char** argv);
int run_ratio(int argc, char** argv);
int run_info(int argc, char** argv);
int run_compare(int argc, char** argv);
int run_weights(int argc, char** argv);
int run_mi(int argc, char** argv);
int run_flow(int argc, char** argv);
int run_data(int argc, char** argv);
int run_ebm(int argc, char** argv);
int run_experiment(int argc, char** argv);

}  // namespace dre::cli
