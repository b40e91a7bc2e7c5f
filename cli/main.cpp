/// The tool `dre`: finds the subcommand, and turns every error into one line and an exit code.
#include <c10/util/Exception.h>

#include <algorithm>
#include <iostream>
#include <new>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/output.h"
#include "dre/base/error.h"
#include "dre/base/names.h"
#include "dre/base/version.h"
#include "dre/data/place.h"

namespace dre::cli {
namespace {

struct Subcommand {
  int (*run)(int argc, char** argv);
  const char* summary;
};

const std::vector<Named<Subcommand>>& subcommands() {
  static const std::vector<Named<Subcommand>> table = {
      {"fit", {run_fit, "learn log(numerator / denominator) from two sets of rows"}},
      {"ratio", {run_ratio, "log-ratios of the rows of a file, by a fitted model"}},
      {"info", {run_info, "what a model file holds"}},
      {"compare", {run_compare, "how far two tables are apart, and where"}},
      {"weights", {run_weights, "weights that make one table look like the other"}},
      {"mi", {run_mi, "mutual information of two groups of columns"}},
      {"flow", {run_flow, "normalised densities: fit, eval, sample"}},
      {"data", {run_data, "fetches data sets: mnist"}},
      {"ebm", {run_ebm, "energy-based models of images: fit, eval, sample"}},
      {"experiment", {run_experiment, "the paper's experiments, its figures beside ours"}},
  };
  return table;
}

std::string help() {
  std::string out =
      "dre: log density ratios, log(numerator / denominator), from two sets of rows\n\nUsage:\n"
      "  dre fit   --numerator A.csv --denominator B.csv --out model.safetensors\n"
      "  dre ratio --model model.safetensors --input X.csv [--output out.csv]\n"
      "  dre info  model.safetensors\n"
      "  dre compare --numerator A.csv --denominator B.csv\n"
      "  dre weights --numerator target.csv --denominator source.csv --output weights.csv\n"
      "  dre mi      data.csv --x a,b --y c,d\n\nCommands:\n";
  for (const auto& [name, command] : subcommands())
    out += text("  ", name, std::string(12 - name.size(), ' '), command.summary, "\n");
  return out +
         "\n'dre COMMAND --help' lists the flags of a command; 'dre --version' prints the "
         "version.\n";
}

int exit_code(Error::Kind kind) {
  switch (kind) {
    case Error::Kind::usage:
      return exit_usage;
    case Error::Kind::data:
      return exit_data;
    case Error::Kind::numerical:
      return exit_numerical;
    case Error::Kind::internal:
      break;
  }
  return exit_internal;
}

/// Says what went wrong in one line, whatever the message holds.
int report(const std::string& who, std::string message, int code) {
  std::replace(message.begin(), message.end(), '\n', ' ');
  std::cerr << who << ": " << message << std::endl;
  return code;
}

int guarded(const std::string& who, const Subcommand& command, int argc, char** argv) {
  try {
    for (int i = 1; i < argc; ++i)
      check(is_utf8(argv[i]), shown(argv[i]),
            " is not UTF-8 text, as names of files and columns have to be; rename it");
    return command.run(argc, argv);
  } catch (const Error& error) {
    return report(who, error.what(), exit_code(error.kind()));
  } catch (const std::bad_alloc&) {
    return report(who, "not enough memory", exit_internal);
  } catch (const c10::Error& error) {
    return report(who, text("internal error: ", error.what_without_backtrace()), exit_internal);
  } catch (const std::exception& error) {
    return report(who, text("internal error: ", error.what()), exit_internal);
  }
}

int run(int argc, char** argv) {
  const std::string first = argc > 1 ? argv[1] : "";
  if (first == "--version") {
    print_result(text("dre ", version(), " (LibTorch ", torch_version(), ")\n"));
    return exit_fine;
  }
  if (first == "--help" || first == "-h") {
    print_result(help());
    return exit_fine;
  }
  if (first.empty()) {
    std::cerr << help();
    return exit_usage;
  }
  for (const auto& [name, command] : subcommands())
    if (name == first) return guarded("dre " + name, command, argc - 1, argv + 1);
  return report("dre",
                text("unknown command '", first, "'; commands are ", join(names_of(subcommands())),
                     "; see dre --help"),
                exit_usage);
}

}  // namespace
}  // namespace dre::cli

int main(int argc, char** argv) {
  try {
    return dre::cli::run(argc, argv);
  } catch (const std::exception& error) {
    return dre::cli::report("dre", error.what(), dre::cli::exit_data);
  }
}
