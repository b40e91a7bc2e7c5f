/// One command-line flag for every field of an options struct, and the way from defaults,
/// configuration file and flags to the resolved options.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "cli/output.h"
#include "dre/base/error.h"
#include "dre/base/options.h"

namespace dre::cli {

/// Registers the flags: `--steps N`, `--correction` and `--no-correction`, `--columns a,b`. Values
/// are kept as given; bounds and names are checked in one place, by from_json.
class Flags final : public OptionVisitor {
 public:
  explicit Flags(CLI::App& app) : app_(app) {}

  /// Fields of `options` will be listed under `title` in the help; the others under the title that
  /// stands last.
  template <class Options>
  void group(const std::string& title, Options& options) {
    const nlohmann::json fields = to_json(options);
    for (const auto& field : fields.items()) groups_[field.key()] = title;
  }
  void title(const std::string& title) { title_ = title; }

  void operator()(const char* name, bool& value, const char* help) override;
  void operator()(const char* name, int64_t& value, Range range, const char* help) override;
  void operator()(const char* name, double& value, Range range, const char* help) override;
  void operator()(const char* name, std::string& value, const Names& names,
                  const char* help) override;
  void operator()(const char* name, std::vector<std::string>& value, const char* help) override;

  /// What was given, after parsing.
  nlohmann::json overrides() const;

  /// A usage error where one of these was given on the command line, which without `needed` would
  /// do nothing. A configuration file may have them: --print-config prints all.
  void refuse(const Names& names, const std::string& needed) const;

 private:
  enum class Kind { flag, whole, number, word, words };
  struct Registered {
    std::string name;
    Kind kind;
    CLI::Option* option;
  };

  void add(const char* name, Kind kind, const std::string& help, const std::string& type);
  std::string group_of(const std::string& name) const;

  CLI::App& app_;
  std::map<std::string, std::string> groups_;
  std::string title_ = "Options";
  std::vector<Registered> all_;
};

/// Titles for the options of a fit.
template <class FitOptions>
void group_fit(Flags& flags, FitOptions& fit) {
  flags.group("Bridge", fit.bridge);
  flags.group("Network", fit.score);
  flags.group("Objective", fit.objective);
  flags.group("Times", fit.times);
  flags.group("Training", fit.train);
}

/// Flags that belong to a run and not to its configuration.
struct RunFlags {
  std::string config;
  std::string format = "text";
  bool print_config = false, quiet = false;

  /// The form of a result that goes to `path`: the one that was asked for, else by the ending.
  std::string format_for(const std::string& path) const;

  void add_config(CLI::App& app);
  void add_quiet(CLI::App& app);
  void add_format(CLI::App& app, const Names& known = {"text", "json"});

 private:
  const CLI::Option* format_option_ = nullptr;
  Names formats_;
};

/// Parses, or throws a usage error in one line. True: help was asked for and printed.
bool parse(CLI::App& app, int argc, char** argv);

/// The JSON object in a configuration file; nothing where `path` is empty.
nlohmann::json read_config(const std::string& path);

/// defaults <- configuration file <- flags. Errors say which of the two a value came from.
template <class Options>
void resolve(Options& options, const std::string& config_file, const nlohmann::json& overrides) {
  const auto apply = [&](const nlohmann::json& values, const std::string& prefix) {
    try {
      from_json(values, options, "the configuration");
    } catch (const Error& error) {
      throw Error(error.kind(), prefix + error.what());
    }
  };
  apply(read_config(config_file), config_file + ": ");
  apply(overrides, "--");
}

/// The configuration of a run, from flags and file; printed where that was asked for. `defaults`
/// runs before what was given is applied, and may look at it. False: the run ends here.
template <class Config>
bool settle(Config& config, CLI::App& app, const Flags& flags, const RunFlags& run, int argc,
            char** argv, const std::function<void()>& defaults = {}) {
  if (parse(app, argc, argv)) return false;
  if (defaults) defaults();
  resolve(config, run.config, flags.overrides());
  if (run.print_config) print_result(to_json(config).dump(2) + "\n");
  return !run.print_config;
}

}  // namespace dre::cli
